from __future__ import annotations

from disconer.core.errors import first_line


def test_the_first_line_of_an_error() -> None:
    assert first_line(RuntimeError("\n \nfirst.\nsecond")) == "first"


def test_an_error_without_words_is_told_by_its_name() -> None:
    assert first_line(RuntimeError()) == first_line(RuntimeError(" \n")) == "RuntimeError"
