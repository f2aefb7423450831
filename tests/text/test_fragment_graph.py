"""Maximal cliques: against networkx-like brute force, and on graphs with cliques without end."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import BadInput, Ledger, read
from disconer.text.fragment_graph import MOST_CLIQUES, assemble, maximal_cliques


def by_hand(n_nodes: int, edges: set[tuple[int, int]]) -> set[tuple[int, ...]]:
    nodes = range(n_nodes)
    cliques = [
        set(some)
        for size in range(1, n_nodes + 1)
        for some in combinations(nodes, size)
        if all(pair in edges for pair in combinations(some, 2))
    ]
    return {tuple(sorted(one)) for one in cliques if not any(one < other for other in cliques)}


@given(data=st.data(), n_nodes=st.integers(0, 7))
def test_every_maximal_clique_once(data: st.DataObject, n_nodes: int) -> None:
    pairs = list(combinations(range(n_nodes), 2))
    edges = {pair for pair in pairs if data.draw(st.booleans())}
    found = list(maximal_cliques(n_nodes, edges))
    assert sorted(found) == sorted(by_hand(n_nodes, edges))


def test_a_clique_of_more_than_a_thousand_is_found() -> None:
    n_nodes = 1500  # deeper than Python recurses
    assert list(maximal_cliques(n_nodes, combinations(range(n_nodes), 2))) == [tuple(range(n_nodes))]


def crowded(n_groups: int) -> list[tuple[int, int]]:
    """Every pair but those of one group of three: 3 ** n_groups maximal cliques."""
    return [(a, b) for a, b in combinations(range(3 * n_groups), 2) if a // 3 != b // 3]


def test_cliques_without_end_are_cut_and_said() -> None:
    edges, cut = crowded(20), []
    spans = [(2 * place, 2 * place + 1) for place in range(60)]
    found = assemble(spans, [["A"]] * 60, edges, cut=cut.append)
    assert len(found) == MOST_CLIQUES
    assert cut == ["A"]


def test_a_file_that_asks_for_cliques_without_end_is_read_in_time_and_counted(tmp_path: Path) -> None:
    edges = crowded(20)
    record = {
        "doc_key": "d",
        "sentences": [["w"] * 120],
        "ner": [[[2 * place, 2 * place, "A"] for place in range(60)]],
        "relations": [[[2 * a, 2 * a, 2 * b, 2 * b, "Combined"] for a, b in edges]],
    }
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record))
    ledger = Ledger()
    (document,) = read(path, "dygie", ledger)
    assert len(document.entities) <= MOST_CLIQUES + 60
    assert ledger.losses == {f"sentences with more than {MOST_CLIQUES:,} entities of one label, the others": 1}


def test_columns_whose_parts_join_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.biohd"
    path.write_text("w\tHB-A\nw\tO\nw\tDB-A\nw\tO\n" * 300)
    with pytest.raises(BadInput, match="300 H parts and 300 D parts of A"):
        list(read(path, "biohd"))
