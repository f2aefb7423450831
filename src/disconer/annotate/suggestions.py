"""Suggestions of a model or of other annotators for a document; candidates for the order of documents."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from disconer.annotate.changes import Key
from disconer.core.types import Document, Entity
from disconer.evaluate.annotators.adjudication import disputed_entities
from disconer.formats import read

KEPT = 2_000  # documents whose suggestions are cached
TURN = 0.01  # seconds' pause for waiting threads to get the model: without it, the lock would be taken again at once
AT_ONCE = 16  # documents per batch when ordering; between batches, the model is free for a document that was opened


class Finder(Protocol):
    """The part of `Recognizer` that is used here."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    def annotate(self, documents: Iterable[Document], *, threshold: float | None = None) -> Iterable[Document]: ...


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested entity. score: the model's. by: the annotators who have it."""

    label: str
    fragments: tuple[tuple[int, int], ...]
    score: float | None = None
    by: tuple[str, ...] = ()


class Suggester:
    """A model, used by one thread at a time. name: for display. place: the value for `training.start_from`."""

    def __init__(self, finder: Finder, name: str, place: str) -> None:
        self.name, self.place, self.labels = name, place, tuple(finder.labels)
        self._finder = finder
        self._lock = threading.Lock()
        self._found: OrderedDict[str, tuple[Entity, ...]] = OrderedDict()  # by text

    def __call__(self, text: str) -> tuple[Entity, ...]:
        """The entities that the model finds."""
        with self._lock:
            if text not in self._found:
                (document,) = self._finder.annotate([Document("text", text)])
                self._found[text] = document.entities
                while len(self._found) > KEPT:
                    self._found.popitem(last=False)
            return self._found[text]

    def annotate(self, documents: Iterable[Document]) -> list[Document]:
        """Documents with the model's entities, to measure it."""
        with self._lock:
            return list(self._finder.annotate(documents))

    def candidates(self, documents: Sequence[Document]) -> Iterator[Document]:
        """Documents with the model's entities and near misses."""
        for first in range(0, len(documents), AT_ONCE):
            with self._lock:
                found = list(self._finder.annotate(documents[first : first + AT_ONCE], threshold=0.0))
            yield from found
            time.sleep(TURN)


class Others:
    """The versions of other annotators, by name: their documents, and what an adjudication left in dispute."""

    def __init__(self, paths: Mapping[str, Path], folder: Path) -> None:
        self._owners: defaultdict[str, dict[Key, list[str]]] = defaultdict(dict)  # by document
        for name, path in paths.items():
            for document in read(path):
                for entity in document.entities:
                    self._add(document.id, name, entity)
        for id, name, entity in disputed_entities(folder):
            self._add(id, name, entity)

    def _add(self, id: str, name: str, entity: Entity) -> None:
        names = self._owners[id].setdefault(entity.key, [])
        if name not in names:
            names.append(name)

    def __call__(self, id: str) -> Iterator[Suggestion]:
        """The entities that any of them has in a document."""
        for (label, fragments), names in self._owners.get(id, {}).items():
            yield Suggestion(label, fragments, by=tuple(names))


def suggestions(id: str, text: str, suggester: Suggester | None, others: Others) -> list[Suggestion]:
    """All suggestions for a document, in the order of the text; those of both sources once, as the annotators'."""
    found = {(one.label, one.fragments): one for one in others(id)}
    for entity in suggester(text) if suggester else ():
        found.setdefault(entity.key, Suggestion(entity.label, entity.fragments, entity.score))
    return sorted(found.values(), key=lambda one: (one.fragments, one.label))
