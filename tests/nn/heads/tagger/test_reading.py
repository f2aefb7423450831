from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from disconer.nn.heads.tagger.crf import LinearChainCrf, Segments
from disconer.nn.heads.tagger.reading import ANY, read_entities
from disconer.nn.heads.tagger.schemes import BIO, BIOHD1234, SCHEMES, Scheme
from disconer.nn.windows import Found

X, Y = "X", "Y"


def numbers(scheme: Scheme, labels: list[str], *rows: str) -> np.ndarray:
    tags = scheme.tags(labels)
    width = max(len(row.split()) for row in rows)
    return np.array([[tags.index(tag) for tag in row.split()] + [0] * (width - len(row.split())) for row in rows])


def test_entities_of_each_row_in_order_with_their_scores() -> None:
    best = numbers(BIOHD1234, [X, Y], "B-Y", "O O", "D3B-X O D3B-X HB-X O B-Y")
    entities = read_entities(best, [1, 2, 6], tags=BIOHD1234.tags([X, Y]), scheme=BIOHD1234)
    scores = np.array([0.5, 0.25, 0.75, 1], dtype=np.float32)
    assert entities.scored(scores, n_rows=3) == [
        [Found(Y, ((0, 1),), 0.5)],
        [],
        [Found(X, ((0, 1), (3, 4)), 0.25), Found(X, ((2, 4),), 0.75), Found(Y, ((5, 6),), 1.0)],
    ]


def test_what_is_asked() -> None:
    tags = BIOHD1234.tags([X])
    best = numbers(BIOHD1234, [X], "D3B-X O O HB-X O O", "O B-X")
    asked = read_entities(best, [6, 2], tags=tags, scheme=BIOHD1234).asked
    d3, h, b = (tags.index(tag) for tag in ("D3B-X", "HB-X", "B-X"))
    d3_goes_on, h_goes_on = tags.index("D3I-X"), tags.index("HI-X")
    assert (asked.row.tolist(), asked.first.tolist(), asked.end.tolist()) == ([0, 1], [0, 1], [5, 2])
    assert asked.only.tolist() == [[d3, ANY, ANY, h, ANY], [b, ANY, ANY, ANY, ANY]]
    assert asked.never.tolist() == [[ANY, d3_goes_on, ANY, ANY, h_goes_on], [ANY] * 5]


def test_padding_is_not_read() -> None:
    best = numbers(BIO, [X], "B-X I-X I-X")
    entities = read_entities(best, [2], tags=BIO.tags([X]), scheme=BIO)
    assert entities.found == [(0, (X, ((0, 2),)))]
    assert entities.asked.end.tolist() == [2]


def test_nothing_found() -> None:
    entities = read_entities(numbers(BIO, [X], "O O"), [2], tags=BIO.tags([X]), scheme=BIO)
    assert entities.scored(np.zeros(0, dtype=np.float32), n_rows=1) == [[]]
    assert entities.asked.only.shape == (0, 1)


def test_the_score_of_a_continuous_entity_is_the_probability_that_it_is_decoded() -> None:
    """In BIO, that is: over all tag sequences, those that stand for it among others."""
    torch.manual_seed(0)
    tags, n_words = BIO.tags([X, Y]), 4
    may = BIO.transitions(tags)
    crf = LinearChainCrf(
        len(tags),
        may_start=torch.from_numpy(may.start),
        may_follow=torch.from_numpy(may.between),
        may_end=torch.from_numpy(may.end),
    )
    emissions, lengths = torch.randn(1, n_words, len(tags)), torch.tensor([n_words])
    emissions[0, 1:3, 1] += 3  # B-X, so that there is something to find
    entities = read_entities(crf.viterbi(emissions, lengths).numpy(), [n_words], tags=tags, scheme=BIO)
    segments = Segments(*map(torch.from_numpy, entities.asked))
    probabilities = crf.segment_probabilities(emissions, lengths, segments).detach().numpy()
    (found,) = entities.scored(probabilities, n_rows=1)
    assert found

    paths = torch.tensor(list(product(range(len(tags)), repeat=n_words)))
    mask = torch.ones(len(paths), n_words, dtype=torch.bool)
    scores = crf.path_scores(emissions.expand(len(paths), -1, -1), paths, mask)
    probabilities = (scores - crf.log_partition(emissions, lengths)).exp().tolist()
    decoded = [BIO.decode([tags[number] for number in path]) for path in paths.tolist()]
    for label, ranges, score in found:
        expected = sum(
            probability for probability, keys in zip(probabilities, decoded, strict=True) if (label, ranges) in keys
        )
        assert score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=list(SCHEMES))
def test_a_model_that_has_learnt_nothing_still_finds_entities_with_probabilities(scheme: Scheme) -> None:
    torch.manual_seed(0)
    tags = scheme.tags([X, Y])
    may = [torch.from_numpy(array) for array in scheme.transitions(tags)]
    crf = LinearChainCrf(len(tags), may_start=may[0], may_follow=may[1], may_end=may[2])
    emissions, lengths = torch.randn(3, 30, len(tags)), torch.tensor([30, 7, 1])
    entities = read_entities(crf.viterbi(emissions, lengths).numpy(), lengths.tolist(), tags=tags, scheme=scheme)
    segments = Segments(*map(torch.from_numpy, entities.asked))
    probabilities = crf.segment_probabilities(emissions, lengths, segments).detach().numpy()
    assert len(probabilities) > 5
    assert ((probabilities > 0) & (probabilities <= 1)).all()
