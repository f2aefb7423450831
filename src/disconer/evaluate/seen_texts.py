"""Texts that a model has read in training: what is measured on them says little about new ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from disconer.core.types import Document


def text_key(document: Document) -> bytes:
    """What is equal for documents of one text, however its white space is."""
    return hashlib.sha256(" ".join(document.text.split()).encode("utf-8", "surrogatepass")).digest()


def seen_in_training(train: Iterable[Document], others: Mapping[str, Iterable[Document]]) -> Iterator[str]:
    """A sentence for each of the other splits in which there are texts of training documents."""
    known = set(map(text_key, train))
    for split, documents in others.items():
        seen = [text_key(document) in known for document in documents]
        if any(seen):
            yield (
                f"{sum(seen):,} of {len(seen):,} {split} documents have the text of a training document: "
                f"F1 on {split} is higher than on new texts"
            )
