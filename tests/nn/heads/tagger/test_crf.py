"""The CRF against a search over all tag sequences of sentences that are short enough for it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import pytest
import torch
from torch import Tensor

from disconer.nn.heads.tagger.crf import LinearChainCrf, Segments
from disconer.nn.heads.tagger.reading import ANY

T = 4
LENGTHS = [5, 1, 3, 4]
N = max(LENGTHS)
Path = tuple[int, ...]


@pytest.fixture(params=[False, True], ids=["free", "constrained"])
def crf(request: pytest.FixtureRequest) -> LinearChainCrf:
    torch.manual_seed(0)
    if not request.param:
        found = LinearChainCrf(T)
    else:
        may_follow = torch.ones(T, T, dtype=torch.bool)
        may_follow[0, 2] = may_follow[3, 2] = may_follow[1, 1] = False
        ends = torch.tensor([True, True, False, True])
        found = LinearChainCrf(T, may_start=ends, may_follow=may_follow, may_end=ends.roll(1))
    for parameter in found.parameters():
        torch.nn.init.normal_(parameter)
    return found


@pytest.fixture
def emissions() -> Tensor:
    return torch.randn(len(LENGTHS), N, T, generator=torch.Generator().manual_seed(1)) * 2


def lengths() -> Tensor:
    return torch.tensor(LENGTHS)


def mask() -> Tensor:
    return torch.arange(N) < lengths()[:, None]


def score(crf: LinearChainCrf, emissions: Tensor, row: int, path: Path) -> float:
    """By the definition, in double precision; minus infinity where a step is not allowed."""
    steps = list(pairwise(path))
    allowed = crf.may_start[path[0]] and crf.may_end[path[-1]] and all(crf.may_follow[step] for step in steps)
    if not allowed:
        return -torch.inf
    total = crf.start[path[0]].double() + crf.end[path[-1]].double()
    total = total + sum(emissions[row, word, tag].double() for word, tag in enumerate(path))
    return (total + sum(crf.transitions[step].double() for step in steps)).item()


def all_paths(crf: LinearChainCrf, emissions: Tensor, row: int) -> dict[Path, float]:
    """The probability of every tag sequence of a sentence."""
    paths = list(product(range(T), repeat=LENGTHS[row]))
    scores = torch.tensor([score(crf, emissions, row, path) for path in paths], dtype=torch.float64)
    return dict(zip(paths, scores.softmax(0).tolist(), strict=True))


def padded(path: Path) -> Tensor:
    return torch.tensor([*path, *[0] * (N - len(path))])


def log_likelihood(crf: LinearChainCrf, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
    """The log probability of the tags of each sentence.  Shape: (B,)"""
    return crf.path_scores(emissions, tags, mask) - crf.log_partition(emissions, mask.sum(-1))


def marginals(crf: LinearChainCrf, emissions: Tensor, lengths: Tensor) -> Tensor:
    """The probability of each tag of each word; 0 for padding.  Shape: (B, N, T)"""
    forward, backward, log_partition = crf.paths(emissions, lengths)
    inside = torch.arange(emissions.shape[1]) < lengths[:, None]
    return torch.where(inside[:, :, None], (forward + backward - log_partition[:, None, None]).exp(), 0)


def test_partition_is_the_sum_over_all_paths(crf: LinearChainCrf, emissions: Tensor) -> None:
    found = crf.log_partition(emissions, lengths())
    for row, length in enumerate(LENGTHS):
        scores = [score(crf, emissions, row, path) for path in product(range(T), repeat=length)]
        assert found[row].item() == pytest.approx(torch.tensor(scores).logsumexp(0).item(), abs=1e-4)


def test_likelihood_of_every_path(crf: LinearChainCrf, emissions: Tensor) -> None:
    for row, length in enumerate(LENGTHS):
        paths = all_paths(crf, emissions, row)
        batch = emissions[row].expand(len(paths), -1, -1)
        tags = torch.stack([padded(path) for path in paths])
        found = log_likelihood(crf, batch, tags, torch.arange(N).expand(len(paths), -1) < length)
        assert found.exp().tolist() == pytest.approx(list(paths.values()), abs=1e-5)


def test_viterbi_finds_the_likeliest_path(crf: LinearChainCrf, emissions: Tensor) -> None:
    found = crf.viterbi(emissions, lengths())
    for row in range(len(LENGTHS)):
        paths = all_paths(crf, emissions, row)
        assert found[row].tolist() == padded(max(paths, key=lambda path: paths[path])).tolist()


def test_marginals(crf: LinearChainCrf, emissions: Tensor) -> None:
    found = marginals(crf, emissions, lengths())
    expected = torch.zeros(len(LENGTHS), N, T, dtype=torch.float64)
    for row in range(len(LENGTHS)):
        for path, probability in all_paths(crf, emissions, row).items():
            for word, tag in enumerate(path):
                expected[row, word, tag] += probability
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=0)


ASKED: list[tuple[int, int, list[int], list[int]]] = [  # row, first word, only, never
    (0, 0, [1, 2], [ANY, ANY]),
    (0, 1, [3], [ANY]),
    (0, 1, [1, 2, ANY], [ANY, ANY, 2]),  # goes no further
    (0, 0, [1, ANY, ANY, 3, ANY], [ANY, 2, ANY, ANY, 3]),  # with a gap, to the end of the sentence
    (0, 0, [ANY] * 5, [ANY] * 5),
    (1, 0, [0], [ANY]),
    (2, 1, [ANY, 1], [0, ANY]),
    (3, 2, [2, 0], [ANY, ANY]),
    (3, 0, [0, 2], [ANY, ANY]),  # not allowed if constrained
]


def asked(row: int, first: int, only: list[int], never: list[int]) -> Callable[[Path], bool]:
    def fits(path: Path) -> bool:
        there = path[first : first + len(only)]
        wanted = zip(there, only, never, strict=True)
        return all(mine in (ANY, tag) and not_mine != tag for tag, mine, not_mine in wanted)

    return fits


def segments() -> Segments:
    width = max(len(only) for _, _, only, _ in ASKED)
    return Segments(
        row=torch.tensor([row for row, *_ in ASKED]),
        first=torch.tensor([first for _, first, *_ in ASKED]),
        end=torch.tensor([first + len(only) for _, first, only, _ in ASKED]),
        only=torch.tensor([[*only, *[ANY] * (width - len(only))] for _, _, only, _ in ASKED]),
        never=torch.tensor([[*never, *[ANY] * (width - len(never))] for *_, never in ASKED]),
    )


@pytest.mark.parametrize("at_once", [2, 1000])
def test_segment_probabilities(
    crf: LinearChainCrf, emissions: Tensor, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disconer.nn.heads.tagger.crf.SEGMENTS_AT_ONCE", at_once)
    found = crf.segment_probabilities(emissions, lengths(), segments())
    expected = [
        sum(probability for path, probability in all_paths(crf, emissions, one[0]).items() if asked(*one)(path))
        for one in ASKED
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-5)


def test_no_segments(crf: LinearChainCrf, emissions: Tensor) -> None:
    none, wide = torch.zeros(0, dtype=torch.long), torch.zeros(0, 1, dtype=torch.long)
    assert crf.segment_probabilities(emissions, lengths(), Segments(none, none, none, wide, wide)).shape == (0,)


def test_padding_changes_nothing(crf: LinearChainCrf, emissions: Tensor) -> None:
    filled = torch.where(mask()[:, :, None], emissions, 1e3)
    wider = torch.cat([filled, torch.full((len(LENGTHS), 2, T), -1e3)], 1)
    wide_mask = torch.cat([mask(), torch.zeros(len(LENGTHS), 2, dtype=torch.bool)], 1)
    tags = crf.viterbi(emissions, lengths())
    wide_tags = torch.cat([torch.where(mask(), tags, 3), torch.full((len(LENGTHS), 2), 3)], 1)
    assert torch.equal(crf.viterbi(wider, lengths())[:, :N], tags)
    assert not crf.viterbi(wider, lengths())[~wide_mask].any()
    torch.testing.assert_close(
        log_likelihood(crf, wider, wide_tags, wide_mask), log_likelihood(crf, emissions, tags, mask())
    )
    torch.testing.assert_close(marginals(crf, wider, lengths())[:, :N], marginals(crf, emissions, lengths()))
    torch.testing.assert_close(
        crf.segment_probabilities(wider, lengths(), segments()),
        crf.segment_probabilities(emissions, lengths(), segments()),
    )


def test_gradients_are_those_of_the_definition(crf: LinearChainCrf, emissions: Tensor) -> None:
    """Of a log likelihood: what the tags have, less what is expected. That is finite, and 0 for padding."""
    tags = crf.viterbi(emissions, lengths())
    emissions.requires_grad_()
    log_likelihood(crf, emissions, tags, mask()).sum().backward()
    observed = torch.nn.functional.one_hot(tags, T) * mask()[:, :, None]
    assert emissions.grad is not None
    torch.testing.assert_close(emissions.grad, observed - marginals(crf, emissions, lengths()).detach())
    for parameter in crf.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()
        assert parameter.grad.any()
    assert not crf.transitions.grad[~crf.may_follow].any()  # type: ignore[index]


def test_large_scores_stay_exact() -> None:
    """A path that falls far behind on one word and wins on the next is not lost to underflow."""
    crf = LinearChainCrf(2, may_follow=torch.tensor([[True, False], [False, True]]))
    emissions = torch.tensor([[[300.0, 0.0], [0.0, 400.0]]], requires_grad=True)
    found = log_likelihood(crf, emissions, torch.tensor([[1, 1]]), torch.ones(1, 2, dtype=torch.bool))
    assert found.item() == pytest.approx(0, abs=1e-3)
    found.sum().backward()
    assert emissions.grad is not None
    assert emissions.grad.isfinite().all()


def test_float32_whatever_autocast_says(crf: LinearChainCrf, emissions: Tensor) -> None:
    half = emissions.bfloat16()
    tags = crf.viterbi(half, lengths())
    plain = log_likelihood(crf, half.float(), tags, mask())
    asked_plain = crf.segment_probabilities(half.float(), lengths(), segments())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = log_likelihood(crf, half, tags, mask())
        asked_found = crf.segment_probabilities(half, lengths(), segments())
    assert found.dtype == asked_found.dtype == torch.float32
    assert torch.equal(found, plain)
    assert torch.equal(asked_found, asked_plain)


def test_learns_a_transition_that_emissions_do_not_show() -> None:
    torch.manual_seed(0)
    crf = LinearChainCrf(2)
    optimizer = torch.optim.SGD(crf.parameters(), lr=0.5)
    emissions, tags = torch.zeros(1, 6, 2), torch.tensor([[0, 1, 0, 1, 0, 1]])
    for _ in range(50):
        optimizer.zero_grad()
        (-log_likelihood(crf, emissions, tags, torch.ones(1, 6, dtype=torch.bool)).sum()).backward()
        optimizer.step()
    assert torch.equal(crf.viterbi(emissions, torch.tensor([6])), tags)


def test_allowed_transitions_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 2\), expected \(2, 2\)"):
        LinearChainCrf(2, may_follow=torch.ones(3, 2))
