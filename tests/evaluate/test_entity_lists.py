from __future__ import annotations

from pathlib import Path

import pytest

from annotated import annotated
from disconer import DisconerError
from disconer.core.types import Kind
from disconer.evaluate import evaluate
from disconer.evaluate.entity_lists import (
    dump_lists,
    each_document,
    gap_group,
    length_group,
    listed_document,
    load_lists,
    totals,
)

TEXT = "pain and stiffness in knees and hands"
GOLD = annotated("ADR: pain … in knees", "ADR: stiffness in knees", "Drug: hands", id="a", text=TEXT)
PREDICTED = annotated("ADR: pain … in knees", "ADR: pain … hands", "Drug: hands", id="a", text=TEXT)


def test_words_and_gaps_are_counted_without_the_text() -> None:
    document = listed_document(GOLD, PREDICTED)
    assert [(one.words, one.gap, one.kind.value) for one in document.gold] == [
        (3, 2, "discontinuous"),
        (3, 0, "overlapped"),
        (1, 0, "regular"),
    ]
    assert TEXT[:4] not in dump_lists([document]).decode()


def test_groups_by_length_and_gap() -> None:
    lengths, gaps = (totals([listed_document(GOLD, PREDICTED)], group) for group in (length_group, gap_group))
    assert {name: (one.gold, one.right, one.predicted) for name, one in lengths.items()} == {
        "3": (2, 1, 1),
        "1": (1, 1, 1),
        "2": (0, 0, 1),
    }
    assert {name: (one.gold, one.right, one.predicted) for name, one in gaps.items()} == {
        "2": (1, 1, 1),
        "5–9": (0, 0, 1),
    }


def test_counts_agree_with_those_of_the_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "dev.entities.jsonl"
    path.write_bytes(dump_lists([listed_document(GOLD, PREDICTED)]))
    (document,) = load_lists(path)
    assert document == listed_document(GOLD, PREDICTED)
    evaluation = evaluate([GOLD], [PREDICTED])
    assert list(each_document([document])) == [evaluation.overall]
    for kind in Kind:
        assert list(each_document([document], kind)) == [evaluation.kinds[kind]]


def test_damaged_lists_are_told(tmp_path: Path) -> None:
    path = tmp_path / "dev.entities.jsonl"
    path.write_text('{"id": "a"}\n')
    with pytest.raises(DisconerError, match=r"dev\.entities\.jsonl: These lists of entities are damaged"):
        load_lists(path)
