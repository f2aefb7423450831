"""A corpus: documents by split; keeping only some labels, and finding texts that were seen in training."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from disconer.core.errors import DisconerError, Where, excerpt
from disconer.core.types import Document


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents by split: `corpus["train"]`; iterating gives every document of every split."""

    splits: Mapping[str, tuple[Document, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "splits", {name: tuple(documents) for name, documents in self.splits.items()})

    @classmethod
    def from_datasets(cls, data: Any) -> Corpus:
        """From a `DatasetDict` of Hugging Face's `datasets`, or a single `Dataset`."""
        from disconer.formats.datasets import from_dataset_dict  # imported here, as `formats` imports this module

        return cls(from_dataset_dict(data))

    def to_datasets(self) -> Any:
        """A `DatasetDict` of Hugging Face's `datasets`, with a row for each document and all its fragments."""
        from disconer.formats.datasets import to_dataset_dict

        return to_dataset_dict(self.splits)

    def __getitem__(self, split: str) -> tuple[Document, ...]:
        return self.splits[split]

    def __iter__(self) -> Iterator[Document]:
        for documents in self.splits.values():
            yield from documents

    def __len__(self) -> int:
        return sum(len(documents) for documents in self.splits.values())


def text_key(document: Document) -> bytes:
    """A key that is the same for all documents with the same text, whatever its whitespace."""
    return hashlib.sha256(" ".join(document.text.split()).encode("utf-8", "surrogatepass")).digest()


def with_scores_from(document: Document, least: float) -> Document:
    """The document with entities of at least this score, and those without a score."""
    kept = tuple(entity for entity in document.entities if entity.score is None or entity.score >= least)
    return document if len(kept) == len(document.entities) else document.replace(entities=kept)


def with_labels(document: Document, labels: Collection[str]) -> Document:
    """The document with only its entities of these labels."""
    return document.replace(entities=tuple(entity for entity in document.entities if entity.label in labels))


def labels_named(given: str) -> list[str]:
    """The labels that an option names, separated by commas; no name may be empty.

    >>> labels_named("ADR, Drug")
    ['ADR', 'Drug']
    """
    labels = [label.strip() for label in given.split(",")]
    if not all(labels):
        expected = "labels separated by commas, such as ADR,Drug"
        raise DisconerError("A label has no name", where=Where("--labels"), got=excerpt(given), expected=expected)
    return labels


def seen_in_training(train: Iterable[Document], others: Mapping[str, Iterable[Document]]) -> Iterator[str]:
    """A warning for each of the other splits that repeats texts of training documents."""
    known = set(map(text_key, train))
    for split, documents in others.items():
        seen = [text_key(document) in known for document in documents]
        if any(seen):
            yield (
                f"{sum(seen):,} of {len(seen):,} {split} documents have the same text as a training document: "
                f"F1 on {split} is higher than on new texts"
            )
