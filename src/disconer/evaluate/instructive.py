"""A few instructive errors: of every kind of entity and error class, those with the highest scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle

from disconer.core.types import Document, Entity, Fragment, Kind, Sentence
from disconer.evaluate.mistakes import Mistake, mistakes
from disconer.text import segment

LONGEST = 240  # characters of a sentence; longer ones are hard to read
KINDS = (Kind.DISCONTINUOUS, Kind.OVERLAPPED, Kind.REGULAR)  # alternating, the hardest first


@dataclass(frozen=True, slots=True)
class Instructive:
    """An error with its sentence as a document of its own, gold and predicted."""

    gold: Document
    predicted: Document
    mistake: Mistake

    @property
    def kind(self) -> Kind:
        """The hardest kind among its entities."""
        kinds = {entity.kind for entity in self._entities}
        return next(kind for kind in KINDS if kind in kinds)

    @property
    def label(self) -> str:
        """The label of the gold entity, if there is one, else of the prediction."""
        return self._entities[0].label

    @property
    def certainty(self) -> float:
        """The score of the wrong prediction; 0 if an entity was only missed."""
        return max((entity.score or 0.0 for entity in self.mistake.predicted), default=0.0)

    @property
    def _entities(self) -> tuple[Entity, ...]:
        return self.mistake.gold + self.mistake.predicted


def instructive(pairs: Iterable[tuple[Document, Document]], count: int = 10) -> list[Instructive]:
    """Errors of gold and predicted documents; deterministic.

    Kinds alternate. Within a kind, the error class shown least so far comes first, then the label shown least, then the
    sentence with the fewest errors, then the highest score. No sentence is used twice.
    """
    left = [one for pair in pairs for one in _candidates(*pair)]
    n_errors = Counter(_place(one) for one in left)
    classes: Counter[str] = Counter()
    labels: Counter[str] = Counter()

    def rank(one: Instructive) -> tuple[object, ...]:
        seen = classes[one.mistake.error], labels[one.label], n_errors[_place(one)]
        return (*seen, -one.certainty, _place(one), one.mistake.error)

    chosen: list[Instructive] = []
    kinds = cycle(KINDS)
    while left and len(chosen) < count:
        kind = next(kinds)
        best = min((one for one in left if one.kind is kind), key=rank, default=None)
        if best is None:
            continue
        chosen.append(best)
        classes[best.mistake.error] += 1
        labels[best.label] += 1
        left = [one for one in left if _place(one) != _place(best)]
    return chosen


def _candidates(gold: Document, predicted: Document) -> Iterator[Instructive]:
    for sentence in segment(gold).sentences or ():
        if sentence.end - sentence.start <= LONGEST:
            annotated, found = _cut(gold, sentence), _cut(predicted, sentence)
            for mistake in mistakes(annotated, found):
                yield Instructive(annotated, found, mistake)


def _cut(document: Document, sentence: Sentence) -> Document:
    """A sentence as a document, with the entities that lie in it."""
    start, end = sentence.start, sentence.end
    own = [entity for entity in document.entities if start <= entity.start and entity.end <= end]
    moved = tuple(Entity(one.label, _moved(one.fragments, -start), id=one.id, score=one.score) for one in own)
    return Document(f"{document.id}, character {start:,}", document.text[start:end], moved)


def _moved(fragments: Iterable[Fragment], by: int) -> tuple[Fragment, ...]:
    return tuple(Fragment(start + by, end + by) for start, end in fragments)


def _place(one: Instructive) -> str:
    return one.gold.id
