"""What exchange formats have no words for."""

from __future__ import annotations

from disconer.ledger import Ledger
from disconer.types import Document

SENTENCES = "sentences with their tokens"


def note_unsaid(document: Document, extras_kept: str, ledger: Ledger) -> None:
    """Count what is lost of a document in a format that says text and entities, and its own extras."""
    ledger.lost(SENTENCES, len(document.sentences or ()))
    for name in document.extras.keys() - {extras_kept}:
        ledger.lost(f"documents' {name} extras")
