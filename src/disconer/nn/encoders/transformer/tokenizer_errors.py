"""Errors of the tokenizers library as messages for users. No torch here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from disconer.core.errors import DisconerError, Where, first_line


def _is_of_the_library(error: BaseException) -> bool:
    """It raises plain exceptions, and panics where a file contradicts itself: that is no `Exception`."""
    return type(error) is Exception or type(error).__name__ == "PanicException"


@contextmanager
def damaged_tokenizers(path: Path) -> Iterator[None]:
    """Within, errors of reading a tokenizer become messages for users."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, DisconerError) or not (isinstance(error, Exception) or _is_of_the_library(error)):
            raise
        raise DisconerError(
            "The tokenizer of this model is missing or damaged",
            where=Where(str(path)),
            got=first_line(error),
            fix="Copy the complete model again.",
        ) from error


@contextmanager
def library_errors() -> Iterator[None]:
    """Within, errors of using a tokenizer become messages for users. They could quote the text, so these do not."""
    try:
        yield
    except BaseException as error:
        if not _is_of_the_library(error):
            raise
        raise DisconerError(
            "The tokenizer of this model failed on a text",
            got=type(error).__name__,
            fix="Copy the complete model again, or do not trust it.",
        ) from error
