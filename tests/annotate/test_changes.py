from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.annotate.changes import Change, Outdated, apply, fitted, next_number, notes, with_note
from disconer.annotate.history import Splice
from disconer.core.types import Document, Entity

TEXT = "Pain and stiffness in my knees after aspirin."
PAIN, DRUG = Entity("ADR", ((0, 4), (25, 30)), "T1"), Entity("Drug", ((37, 44),), "T2")
DOCUMENT = Document("a", TEXT, (PAIN, DRUG))


def ids(document: Document) -> list[str | None]:
    return [entity.id for entity in document.entities]


def test_a_changed_entity_keeps_its_place_and_a_new_one_comes_last() -> None:
    longer, new = Entity("ADR", ((0, 18),), "T1"), Entity("ADR", ((9, 18),), "T3")
    changed = apply(DOCUMENT, Change(remove=(PAIN,), add=(new, longer)))
    assert ids(changed) == ["T1", "T2", "T3"]
    assert changed.entities[0].key == longer.key
    assert apply(changed, Change(remove=(longer, new), add=(PAIN,))) == DOCUMENT


def test_ids_that_are_missing_or_taken_are_replaced_by_the_next() -> None:
    new = Entity("ADR", ((9, 18),)), Entity("ADR", ((9, 30),), "T2")
    assert ids(apply(DOCUMENT, Change(add=new))) == ["T1", "T2", "T3", "T4"]
    mentioned = DOCUMENT.replace(extras={"brat": {"lines": ["T1", "T2", "R1\tCauses Arg1:T9 Arg2:T1", ""]}})
    assert next_number(mentioned) == 10  # what is mentioned is not given to something else


def test_an_entity_that_is_not_there_cannot_be_changed() -> None:
    with pytest.raises(Outdated):
        apply(DOCUMENT, Change(remove=(Entity("ADR", ((0, 4),), "T1"),)))


def test_notes_are_brat_lines() -> None:
    noted = apply(DOCUMENT, Change(notes={"T1": " since\nMay "}))
    assert noted.extras["brat"]["lines"] == ["T1", "T2", "#1\tAnnotatorNotes T1\tsince May", ""]
    assert notes(noted) == {"T1": "since May"}
    again = with_note(with_note(noted, "T1", "June"), "T2", "new")
    assert notes(again) == {"T1": "June", "T2": "new"}
    assert with_note(with_note(again, "T1", ""), "T2", "") == DOCUMENT


def test_what_was_made_is_fitted_to_the_text() -> None:
    assert fitted("ADR", [(19, 25), (0, 5), (5, 8)], TEXT).fragments == ((0, 8), (19, 24))
    with pytest.raises(ValueError, match="not in a text"):
        fitted("ADR", [(0, 99)], TEXT)


@given(st.text(alphabet="ab\n", max_size=12), st.text(alphabet="ab\n", max_size=12))
def test_a_splice_leads_from_one_text_to_the_other_and_back(before: str, after: str) -> None:
    splice = Splice.between(before, after)
    assert splice.apply(before) == after
    assert splice.inverse.apply(after) == before
    assert len(splice.old) + len(splice.new) <= len(before) + len(after)
