from __future__ import annotations

import pytest

from disconer.core.errors import BadInput, Where, first_line


def test_an_error_with_other_parts_is_the_same_otherwise() -> None:
    error = BadInput("bad-offset", "This is bad", where=Where("a"), got="x", expected="y", fix="Mend it.")
    other = error.changed(where=Where("b"), fix=None)
    assert (type(other), other.problem, str(other)) == (BadInput, "bad-offset", "b: This is bad. Got x, expected y.")
    assert str(error) == "a: This is bad. Got x, expected y. Mend it."


@pytest.mark.parametrize(
    ("fix", "left"),
    [
        (
            "Convert it (iconv, if from Windows), or skip such input with --skip-bad.",
            "Convert it (iconv, if from Windows).",
        ),
        ("Add it, move it elsewhere, or skip such documents with --skip-bad.", "Add it, move it elsewhere."),
        ("Rename one, or add --skip-bad to keep the first.", "Rename one."),
        ("Give it a label.", "Give it a label."),
    ],
)
def test_advice_where_nothing_can_be_skipped(fix: str, left: str) -> None:
    assert BadInput("x", "x", fix=fix).without_skipping().fix == left


def test_the_first_line_of_an_error() -> None:
    assert first_line(RuntimeError("\n \nfirst.\nsecond")) == "first"


def test_an_error_without_words_is_told_by_its_name() -> None:
    assert first_line(RuntimeError()) == first_line(RuntimeError(" \n")) == "RuntimeError"
