"""What heads take over from one another, number by number."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from disconer.config import load_head
from disconer.nn.heads.kind import kind_of
from disconer.nn.interfaces import Transferable
from disconer.training.start_from import Misfit, Transfer, take_over

WORD_SIZE = 6
GIVEN, OWN = ("ADR", "Drug", "Dose"), ("Drug", "Finding")  # what the model finds that is started from, and the new one
FRAGMENTS, MATRICES, TRANSITIONS = "fragments.rest.2", "grid.biaffine.matrices", "crf.transitions"

Head = Any


def build(kind: str, labels: tuple[str, ...], *settings: str) -> Head:
    """A head whose parameters are all different numbers."""
    chosen = load_head(kind, settings)
    head: Head = kind_of(chosen).build(chosen, labels, word_size=WORD_SIZE)
    for parameter in head.parameters():
        nn.init.normal_(parameter)
    return head


def started(own: Head, given: Head) -> tuple[dict[str, Tensor], Transfer]:
    """What a head was before, and what it took over."""
    before = {name: tensor.clone() for name, tensor in own.state_dict().items()}
    return before, take_over(own, given)


def assert_places(
    own: Head, given: Head, before: dict[str, Tensor], name: str, taken: dict[int, int], size: int
) -> None:
    """Rows of a parameter: `taken` from where in the other head, the rest as they were."""
    now, there = own.state_dict()[name], given.state_dict()[name]
    assert len(now) == size
    for row in range(size):
        expected = there[taken[row]] if row in taken else before[name][row]
        assert torch.equal(now[row], expected), (name, row)


def assert_whole(own: Head, given: Head, transfer: Transfer) -> None:
    for name in transfer.whole:
        assert torch.equal(own.state_dict()[name], given.state_dict()[name]), name


each_head = pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("span", []),
        ("grid", []),
        ("hypergraph", []),
        ("tagger", []),
        ("tagger", ["scheme=multilabel"]),
        ("transition", []),
        ("sequence", []),
        ("combined", []),
    ],
)


@each_head
def test_the_same_labels_are_the_same_head(kind: str, settings: list[str]) -> None:
    own, given = build(kind, GIVEN, *settings), build(kind, GIVEN, *settings)
    transfer = take_over(own, given)
    assert transfer.whole == list(own.state_dict())
    assert_whole(own, given, transfer)


@each_head
def test_what_a_head_names_is_as_long_as_its_axes(kind: str, settings: list[str]) -> None:
    head = build(kind, GIVEN, *settings)
    assert isinstance(head, Transferable)
    shapes = {name: tensor.shape for name, tensor in head.state_dict().items()}
    for name, axes in head.axis_names().items():
        assert {axis: len(set(names)) for axis, names in axes.items()} == {axis: shapes[name][axis] for axis in axes}


def test_span() -> None:
    own, given = build("span", OWN), build("span", GIVEN)
    before, transfer = started(own, given)
    assert transfer.partly == [f"{FRAGMENTS}.weight", f"{FRAGMENTS}.bias"]
    assert not transfer.fresh
    assert_whole(own, given, transfer)
    for name in transfer.partly:
        assert_places(own, given, before, name, {0: 0, 1: 2}, size=3)  # no fragment, Drug, Finding


def test_span_without_hidden_layers() -> None:
    own, given = build("span", OWN, "fragments.hidden=[]"), build("span", GIVEN, "fragments.hidden=[]")
    before, transfer = started(own, given)
    assert transfer.partly == ["fragments.first.weight", "fragments.first.bias"]
    assert_places(own, given, before, "fragments.first.weight", {0: 0, 1: 2}, size=3)


def test_span_with_wider_fragments() -> None:
    own, given = build("span", GIVEN, "max_width=5"), build("span", GIVEN, "max_width=3")
    before, transfer = started(own, given)
    assert transfer.partly == ["widths.table.weight"]
    assert_places(own, given, before, "widths.table.weight", {0: 0, 1: 1, 2: 2}, size=5)


def test_span_where_no_fragment_means_something_else() -> None:
    own, given = build("span", OWN, "labels=many"), build("span", GIVEN)
    before, _ = started(own, given)
    assert_places(own, given, before, f"{FRAGMENTS}.bias", {1: 2}, size=3)


def test_grid() -> None:
    own, given = build("grid", OWN), build("grid", GIVEN)
    before, transfer = started(own, given)
    assert transfer.partly == ["grid.output.weight", "grid.output.bias", MATRICES]
    assert not transfer.fresh
    assert_whole(own, given, transfer)
    taken = {0: 1, 2: 3, 3: 4, 4: 5}  # Drug; then links, entities without a gap, with one
    for name in transfer.partly[:2]:
        assert_places(own, given, before, name, taken, size=5)
    size = own.grid.biaffine.first.out_features + 1
    now, there, was = (
        matrices.view(size, -1, size)
        for matrices in (own.grid.biaffine.matrices, given.grid.biaffine.matrices, before[MATRICES])
    )
    for score in range(5):
        assert torch.equal(now[:, score], there[:, taken[score]] if score in taken else was[:, score])


def test_tagger() -> None:
    own, given = build("tagger", OWN, "scheme=BIO"), build("tagger", GIVEN, "scheme=BIO")
    before, transfer = started(own, given)
    by_tag = {"crf.end", "crf.start", "emissions.3.bias", "emissions.3.weight"}
    assert set(transfer.partly) == {*by_tag, TRANSITIONS}
    assert_whole(own, given, transfer)
    taken = {0: 0, 1: 3, 2: 4}  # O, B-Drug, I-Drug; B-Finding and I-Finding are new
    for name in by_tag:
        assert_places(own, given, before, name, taken, size=5)
    for one in range(5):
        for other in range(5):
            known = one in taken and other in taken
            there = given.crf.transitions[taken[one], taken[other]] if known else before[TRANSITIONS][one, other]
            assert own.crf.transitions[one, other] == there


def test_tagger_of_another_scheme() -> None:
    own, given = build("tagger", ("Drug",), "scheme=BIOHD"), build("tagger", ("Drug",), "scheme=BIO")
    before, _ = started(own, given)
    assert_places(own, given, before, "crf.start", {0: 0, 1: 1, 2: 2}, size=7)


def test_without_a_label_in_common() -> None:
    own, given = build("span", ("Finding",)), build("span", ("Drug",))
    before, transfer = started(own, given)
    assert_places(own, given, before, f"{FRAGMENTS}.weight", {0: 0}, size=2)
    assert f"{FRAGMENTS}.weight" in transfer.partly


def test_parts_that_the_other_has_not_are_fresh() -> None:
    own, given = build("span", GIVEN), build("span", GIVEN, "relations.enabled=false")
    before, transfer = started(own, given)
    assert transfer.fresh == [name for name in before if name.startswith("relations.")]
    assert all(torch.equal(own.state_dict()[name], before[name]) for name in transfer.fresh)


def test_sizes_that_do_not_fit_are_told() -> None:
    own, given = build("span", OWN, "relations.hidden=[7]"), build("span", GIVEN, "relations.hidden=[9]")
    transfer = take_over(own, given)
    assert transfer.misfits[:2] == [
        Misfit("relations.first.weight", (7, 96), (9, 96)),
        Misfit("relations.first.bias", (7,), (9,)),
    ]


def test_a_head_that_names_nothing_stays_as_it_is() -> None:
    own, given = nn.Linear(2, 3), nn.Linear(2, 3)
    before = own.weight.clone()
    assert take_over(own, given) == Transfer(fresh=["weight", "bias"])  # type: ignore[arg-type]
    assert torch.equal(own.weight, before)


def test_hypergraph() -> None:
    """Of the label that both have, the edges of up to two fragments."""
    own, given = build("hypergraph", OWN, "max_fragments=2"), build("hypergraph", GIVEN, "max_fragments=3")
    before, transfer = started(own, given)
    assert transfer.partly == ["scorer.output.weight", "scorer.output.bias"]
    assert not transfer.fresh
    assert_whole(own, given, transfer)
    names = given.edges.names
    shared = {2 * edge: 3 * names.index(name) + 1 for edge, name in enumerate(own.edges.names)}  # those of Drug
    assert_places(own, given, before, "scorer.output.weight", shared, size=2 * len(own.edges))


def test_transition() -> None:
    own, given = build("transition", OWN), build("transition", GIVEN)
    before, transfer = started(own, given)
    assert transfer.partly == ["past.vectors.weight", "scorer.output.weight", "scorer.output.bias"]
    assert not transfer.fresh
    assert_whole(own, given, transfer)
    shared = {action: action for action in range(5)} | {5: 6}  # all but COMPLETE; COMPLETE-Drug
    assert_places(own, given, before, "scorer.output.weight", shared, size=7)
    assert_places(own, given, before, "past.vectors.weight", shared | {7: 8}, size=8)  # and the start


def test_sequence() -> None:
    own, given = build("sequence", OWN), build("sequence", GIVEN)
    before, transfer = started(own, given)
    assert set(transfer.partly) == {"writer.vectors.weight", "writer.output.weight", "writer.output.bias"}
    assert_whole(own, given, transfer)
    shared = {0: 0} | {1 + 2 * mark: 2 + 3 * mark for mark in range(4)}  # end; B, I, L and U of Drug
    for name in transfer.partly:
        assert_places(own, given, before, name, shared, size=9)


def test_combined() -> None:
    own, given = build("combined", OWN), build("combined", GIVEN)
    before, transfer = started(own, given)
    assert not transfer.fresh
    assert_whole(own, given, transfer)
    parts = {name.split(".")[0] for name in transfer.partly}
    assert parts == {"spans", "transitions", "evidence"}
    name = "evidence.linear.weight"
    now, there = own.state_dict()[name], given.state_dict()[name]
    assert now.shape[1] == 4 * 3 + 2
    of_sets = {3 * place + n: 4 * place + known for place in range(4) for n, known in ((0, 1), (2, 3))}
    taken = of_sets | {12: 17}  # of each set, Drug and succession; Drug at the front
    for column in range(now.shape[1]):
        known = taken.get(column)
        assert torch.equal(now[:, column], before[name][:, column] if known is None else there[:, known])
