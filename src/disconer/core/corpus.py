"""A corpus: documents by split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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
