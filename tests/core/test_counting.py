from __future__ import annotations

import pytest

from disconer.core.counting import counted


@pytest.mark.parametrize(
    ("things", "one"),
    [
        ("discontinuous entities dropped", "discontinuous entity dropped"),
        ("entities (crosses a sentence boundary)", "entity (crosses a sentence boundary)"),
        ("documents' w2ner extras", "document's w2ner extras"),
        ("lone surrogates, which text files cannot store, replaced", None),
        ("entities that cross sentences", None),
        ("sentences with several roots, kept as they are", None),
        ("doc.ents besides the span group", None),
        ("bad-syntax", None),
    ],
)
def test_one_of_what_a_ledger_counts(things: str, one: str | None) -> None:
    assert counted(1, things) == f"1 {one or things}"
    assert counted(0, things) == f"0 {things}"
    assert counted(2000, things) == f"2,000 {things}"
