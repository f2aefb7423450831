"""Paths and the oracle: what has a path comes back, and what comes back besides is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import Ledger
from disconer.corpora import recipe_named
from disconer.evaluate.check import WordEntity
from disconer.nn.heads.hypergraph.paths import NO_GAP, Edges, hypergraph_reach
from disconer.text.alignment import align
from nn.heads.sentences import N_WORDS, sentences

WIDE = "has more than 7 words from first to last (head.reach)"
MANY = "has more than 2 fragments (head.max_fragments)"


@given(sentences(), st.integers(1, 3))
def test_what_has_a_path_is_found(gold: list[WordEntity], memory: int) -> None:
    found, lost = hypergraph_reach(gold, N_WORDS, Edges(3, memory))
    assert set(gold) - found == set(lost)
    assert set(lost.values()) <= {NO_GAP}
    starts = Counter((label, ranges[0][0]) for label, ranges in set(gold) - set(lost))
    assert {(label, ranges[0][0]) for label, ranges in found} == set(starts)
    alone = {one for one in found if starts[one[0], one[1][0][0]] == 1}
    assert alone <= set(gold)  # paths mix only with others from the same word, of the same label


@given(sentences())
def test_nested_and_crossing_entities_without_gaps_never_mix(gold: list[WordEntity]) -> None:
    whole = {one for one in gold if len(one[1]) == 1}
    assert hypergraph_reach(whole, N_WORDS, Edges(3, 1)) == (whole, {})


def test_what_is_lost_has_a_reason() -> None:
    wide, many, touching = ((0, 1), (7, 8)), ((0, 1), (2, 3), (4, 5)), ((0, 1), (1, 2))
    gold = [("X", one) for one in (wide, many, touching, ((0, 7),))]
    found, lost = hypergraph_reach(gold, 7, Edges(2, 1))
    assert found == {("X", ((0, 7),))}
    assert lost == {("X", wide): WIDE, ("X", many): MANY, ("X", touching): NO_GAP}


def test_what_gaps_remember_keeps_coordinations_apart() -> None:
    """Human T and B cells: "human T cells" and "human B cells"."""
    gold = {("X", ((0, 2), (4, 5))), ("X", ((0, 1), (3, 5)))}
    mixed = {("X", ((0, 2), (3, 5))), ("X", ((0, 1), (4, 5)))}
    assert hypergraph_reach(gold, 8, Edges(2, memory=1)).found == gold | mixed
    assert hypergraph_reach(gold, 8, Edges(2, memory=2)).found == gold


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "archive", "options", "extra"),
    [
        ("chia", "chia_without_scope.zip", {"sentences": "lines"}, {1: 12, 2: 4}),
        ("genia", "GENIAcorpus3.02.tgz", {"setting": "full", "types": "five"}, {1: 16, 2: 2}),
    ],
)
def test_every_entity_of_a_corpus_comes_back_and_few_others(
    data: Path, name: str, archive: str, options: dict[str, str], extra: dict[int, int]
) -> None:
    more, lost = Counter[int](), Counter[int]()
    for document in recipe_named(name).build(data / name / archive, options, Ledger())["dev"]:
        for own in align(document)[0]:
            gold = {entity.key for entity in own}
            for memory in extra:
                reach = hypergraph_reach(gold, 32, Edges(3, memory))
                more[memory] += len(reach.found - gold)
                lost[memory] += len(reach.lost)
    assert more == extra
    assert lost.total() == 0
