"""What a document carries of the format it came from, and what other formats lose of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from disconer.errors import BadInput, Where, excerpt
from disconer.ledger import Ledger
from disconer.types import Document

SENTENCES = "sentences with their tokens"


def note_unsaid(document: Document, extras_kept: str, ledger: Ledger) -> None:
    """Count what is lost of a document in a format that says text and entities, and its own extras."""
    ledger.lost(SENTENCES, len(document.sentences or ()))
    for name in document.extras.keys() - {extras_kept}:
        ledger.lost(f"documents' {name} extras")


@contextmanager
def carried(document: Document, name: str) -> Iterator[dict[str, Any]]:
    """The extras of that name, to be used within the block.

    They come from files that people edit: if they are not as we write them, that is said, not shown as a traceback.
    """
    try:
        yield dict(document.extras.get(name, {}))
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise BadInput(
            "bad-syntax",
            f"What this document carries of its {name} origin is not as disconer writes it",
            where=Where(document=document.id),
            got=excerpt(repr(error)),
            fix=f'Remove "{name}" from its extras, or read the document from its own file again.',
        ) from error
