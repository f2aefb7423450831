from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import Document, Entity
from disconer.nn.heads.span.targets import span_targets
from disconer.text import segment
from disconer.text.alignment import align
from disconer.text.fragment_graph import assemble, maximal_cliques
from nn.heads.span.oracles import oracle
from strategies import tokenised_documents

Edges = set[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    n_nodes = draw(st.integers(0, 7))
    pairs = list(combinations(range(n_nodes), 2))
    return n_nodes, set(draw(st.lists(st.sampled_from(pairs)))) if pairs else set()


def brute_force(n_nodes: int, edges: Edges) -> set[tuple[int, ...]]:
    subsets = [s for size in range(1, n_nodes + 1) for s in combinations(range(n_nodes), size)]
    cliques = [s for s in subsets if all(pair in edges for pair in combinations(s, 2))]
    return {c for c in cliques if not any(set(c) < set(other) for other in cliques)}


@given(graphs())
def test_maximal_cliques_are_those_of_a_search_over_all_subsets(graph: tuple[int, Edges]) -> None:
    found = list(maximal_cliques(*graph))
    assert len(found) == len(set(found))
    assert set(found) == brute_force(*graph)


def expressed(text: str, *entities: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """The gold and the oracle's entities of a text, each entity given as a label and its fragments' words."""
    found = tuple(
        Entity(label, tuple((text.index(words), text.index(words) + len(words)) for words in fragments))
        for label, *fragments in entities
    )
    document = segment(Document("d", text, found))
    decoded = document.replace(entities=tuple(Entity(*key) for key in oracle(document)))
    return {f"{e.label} {e.text}" for e in document.entities}, {f"{e.label} {e.text}" for e in decoded.entities}


def test_two_by_two_coordination_is_found_whole() -> None:
    text = "pain and stiffness in knees and hands"
    gold, found = expressed(
        text,
        *[("ADR", symptom, place) for symptom in ("pain", "stiffness") for place in ("in knees", "hands")],
    )
    assert len(gold) == 4
    assert found == gold


def test_fragments_of_different_types_never_merge_and_a_span_may_have_two() -> None:
    gold, found = expressed("severe renal or hepatic impairment", ("A", "renal", "impairment"), ("B", "impairment"))
    assert found == gold == {"A renal impairment", "B impairment"}


def test_a_part_that_also_stands_alone_is_what_cliques_lose() -> None:
    gold, found = expressed("renal or hepatic impairment", ("A", "renal", "impairment"), ("A", "impairment"))
    assert gold - found == {"A impairment"}
    assert found == {"A renal impairment"}


def test_only_pairs_with_a_token_between_them_are_edges() -> None:
    spans = [(0, 2), (1, 3), (2, 4), (5, 6)]
    labels = [["A"]] * 4
    found = assemble(spans, labels, [(0, 1), (0, 2), (3, 0)])
    assert {entity.ranges for entity in found} == {((0, 2), (5, 6)), ((1, 3),), ((2, 4),)}


@pytest.mark.parametrize(("max_width", "n_found"), [(None, 1), (3, 1), (2, 0)])
def test_fragments_beyond_the_width_limit_are_missed(max_width: int | None, n_found: int) -> None:
    document = segment(Document("d", "a b c d", (Entity("A", ((0, 5),)),)))
    assert len(oracle(document, max_width)) == n_found


@given(tokenised_documents())
def test_targets_relate_every_pair_rightly(document: Document) -> None:
    for entities in align(document)[0]:
        targets = span_targets([one.key for one in entities])
        for a, b in combinations(range(len(targets.spans)), 2):
            first, second = targets.spans[a], targets.spans[b]
            together = any({first, second} <= set(entity.ranges) for entity in entities)
            assert ((a, b) in targets.succession) == together
