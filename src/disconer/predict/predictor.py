"""A model with filters of its entities. No torch before one is created."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from disconer.core.errors import DisconerError
from disconer.core.types import Document

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer  # imports torch

Precision = Literal["fp32", "bf16"]


class Annotator(Protocol):
    """What prediction needs of a `Recognizer`."""

    def annotate(self, documents: Iterable[Document]) -> Iterable[Document]: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a prediction.

    model: folder or name. labels: those to keep, separated by commas; None for all.
    threshold: entities with a lower score are left out.
    parser, device, precision: see `Recognizer`.
    """

    model: str
    labels: str | None = None
    threshold: float = 0.0
    parser: str | None = None
    device: str | None = None
    precision: Precision = "fp32"


class Predictor:
    """Predicts with the given settings."""

    def __init__(self, settings: Settings) -> None:
        from disconer.predict.recognizer import Recognizer

        self.recognizer: Recognizer = Recognizer.from_pretrained(
            settings.model,
            device=settings.device,
            precision=settings.precision,
            parser=settings.parser,
            keep_parses=True,
        )
        self._labels = None if settings.labels is None else _known_labels(settings.labels, self.recognizer.labels)
        self._threshold = settings.threshold

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in self.recognizer.annotate(documents):
            yield wanted(document, self._labels, self._threshold)


def wanted(document: Document, labels: Collection[str] | None, threshold: float) -> Document:
    """The document with those entities that have one of `labels` and at least a score of `threshold`."""
    kept = [
        entity
        for entity in document.entities
        if (labels is None or entity.label in labels) and (entity.score is None or entity.score >= threshold)
    ]
    return document if len(kept) == len(document.entities) else document.replace(entities=tuple(kept))


def _known_labels(given: str, known: tuple[str, ...]) -> frozenset[str]:
    chosen = [label.strip() for label in given.split(",")]
    if unknown := [label for label in chosen if label not in known]:
        raise DisconerError(f"The model has no label {unknown[0]!r}", expected=f"some of {', '.join(known)}")
    return frozenset(chosen)
