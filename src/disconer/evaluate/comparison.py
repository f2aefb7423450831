"""What an export changed: the original and the exported model on the same documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from disconer.core.types import Document, Kind
from disconer.evaluate import Evaluation


class Annotator(Protocol):
    """The part of `Recognizer` that is used here."""

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]: ...


@dataclass(slots=True)
class Run:
    """One model on the documents.

    seconds: wall time, from texts to entities.
    """

    documents: list[Document]
    seconds: float
    evaluation: Evaluation = field(default_factory=Evaluation)

    def f1(self, kind: Kind | None = None) -> float:
        figures = self.evaluation.to_dict()
        return float((figures["overall"] if kind is None else figures["kinds"][kind.value])["f1"])


@dataclass(frozen=True, slots=True)
class Comparison:
    """A model before and after its export.

    source: where the documents come from. same: how many of them have the same entities.
    """

    source: str
    before: Run
    after: Run
    same: int

    def to_dict(self) -> dict[str, Any]:
        runs = {"before": self.before, "after": self.after}
        figures = {name: {"f1": run.f1(), "seconds": round(run.seconds, 3)} for name, run in runs.items()}
        return {"source": self.source, "documents": len(self.before.documents), "same": self.same} | figures


def compare(before: Annotator, after: Annotator, gold: Sequence[Document], source: str) -> Comparison:
    """Run both models on annotated documents."""
    first, second = _run(before, gold), _run(after, gold)
    same = sum(map(_alike, first.documents, second.documents))
    return Comparison(source, first, second, same)


def _run(annotator: Annotator, gold: Sequence[Document]) -> Run:
    start = time.perf_counter()
    found = list(annotator.annotate(document.replace(entities=()) for document in gold))
    run = Run(found, time.perf_counter() - start)
    for document, predicted in zip(gold, found, strict=True):
        run.evaluation.add(document, predicted)
    return run


def _alike(one: Document, other: Document) -> bool:
    return {(entity.label, entity.fragments) for entity in one.entities} == {
        (entity.label, entity.fragments) for entity in other.entities
    }
