"""Error classes: every missed gold entity and every wrong prediction belongs to exactly one error."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle

from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, Fragment, Kind
from disconer.evaluate.measures import Key
from disconer.text import segment


class Nearby:
    """Finds entities that start before the end of a stretch of text and end after its start."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._entities = sorted(entities, key=lambda entity: entity.start)
        self._starts = [entity.start for entity in self._entities]
        self._longest = max((entity.end - entity.start for entity in self._entities), default=0)

    def __call__(self, start: int, end: int) -> list[Entity]:
        """In the order of their starts; a discontinuous one may have only its gap in the stretch."""
        first = bisect_left(self._starts, start - self._longest)
        return [entity for entity in self._entities[first : bisect_left(self._starts, end)] if start < entity.end]


class ErrorClass(StrEnum):
    """Error classes; see `mistakes` for definitions."""

    WRONG_TYPE = "wrong_type"
    BOUNDARY = "boundary"
    MISSING_FRAGMENT = "missing_fragment"
    EXTRA_FRAGMENT = "extra_fragment"
    MERGED = "merged"
    SPLIT = "split"
    SPURIOUS = "spurious"
    MISSED = "missed"

    @property
    def words(self) -> str:
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Mistake:
    """One error: the missed gold entities and the wrong predictions; either may be empty."""

    error: ErrorClass
    gold: tuple[Entity, ...]
    predicted: tuple[Entity, ...]


def mistakes(gold: Document, predicted: Document) -> list[Mistake]:
    """The errors of one document.

    Gold entities without an equal prediction, and predictions without an equal gold entity, are classified in
    this order; entities classified in one step are not considered in the next:

    1. wrong type: a gold entity and a prediction with the same fragments and different labels.
    2. merged: a prediction that contains two or more gold entities of its label.
    3. split: a gold entity that contains two or more predictions of its label.
    4. A gold entity and a prediction of one label that share text. Those that agree most are paired first
       (shared characters out of all characters of the two), and each goes into one pair:
       missing fragment: a fragment of the gold entity shares no text with the prediction, while all of the
       prediction's fragments share text with the gold entity;
       extra fragment: the same the other way round;
       boundary: all others. The right fragments with wrong ends, a gap that was filled, or one fragment taken
       for another.
    5. spurious: a prediction that is left. missed: a gold entity that is left.

    An entity contains another if it has all its characters. In 2 and 3 the contained ones count only if they
    lie side by side or share some of their text, not if one contains the other: a prediction that is too wide
    for two nested gold entities is a boundary error for the outer one, and the inner one is missed. If
    several candidates match an entity, the first in the text is used.
    """
    missing, wrong = _only_in(gold, predicted), _only_in(predicted, gold)
    found: list[Mistake] = []
    for step in (_wrong_types, _merged, _split, _pairs):
        for mistake in step(list(missing.values()), list(wrong.values())):
            found.append(mistake)
            for entity in mistake.gold:
                del missing[entity.key]
            for entity in mistake.predicted:
                del wrong[entity.key]
    found += [Mistake(ErrorClass.MISSED, (entity,), ()) for entity in missing.values()]
    found += [Mistake(ErrorClass.SPURIOUS, (), (entity,)) for entity in wrong.values()]
    return found


def _only_in(here: Document, there: Document) -> dict[Key, Entity]:
    """The entities that one document has and another lacks, in the order of the text."""
    known = {entity.key for entity in there.entities}
    only = {entity.key: entity for entity in here.entities if entity.key not in known}
    return {key: only[key] for key in sorted(only, key=lambda key: (key[1], key[0]))}


def _wrong_types(gold: list[Entity], predicted: list[Entity]) -> Iterator[Mistake]:
    same_place: dict[tuple[Fragment, ...], list[Entity]] = {}
    for entity in predicted:
        same_place.setdefault(entity.fragments, []).append(entity)
    for entity in gold:
        if others := same_place.get(entity.fragments):
            yield Mistake(ErrorClass.WRONG_TYPE, (entity,), (others.pop(0),))


def _merged(gold: list[Entity], predicted: list[Entity]) -> Iterator[Mistake]:
    for whole, parts in _wholes(predicted, gold):
        yield Mistake(ErrorClass.MERGED, parts, (whole,))


def _split(gold: list[Entity], predicted: list[Entity]) -> Iterator[Mistake]:
    for whole, parts in _wholes(gold, predicted):
        yield Mistake(ErrorClass.SPLIT, (whole,), parts)


def _wholes(wholes: list[Entity], parts: list[Entity]) -> Iterator[tuple[Entity, tuple[Entity, ...]]]:
    """Entities that contain two or more others, with these; each part is used once."""
    candidates = _SameLabel(parts)
    taken: set[Key] = set()
    for whole in wholes:
        inside = [part for part in candidates.around(whole) if part.key not in taken and _contains(whole, part)]
        outermost = tuple(
            part for part in inside if not any(other is not part and _contains(other, part) for other in inside)
        )
        if len(outermost) > 1:
            taken.update(part.key for part in outermost)
            yield whole, outermost


def _pairs(gold: list[Entity], predicted: list[Entity]) -> Iterator[Mistake]:
    """Entities of one label that share text, the closest pairs first."""
    candidates = _SameLabel(predicted)
    pairs = [(one, other) for one in gold for other in candidates.around(one) if _shared(one, other)]
    pairs.sort(key=lambda pair: (-_closeness(*pair), pair[0].fragments, pair[1].fragments))
    paired_gold: set[Key] = set()
    paired_predicted: set[Key] = set()
    for one, other in pairs:
        if one.key not in paired_gold and other.key not in paired_predicted:
            paired_gold.add(one.key)
            paired_predicted.add(other.key)
            yield Mistake(_pair_class(one, other), (one,), (other,))


def _pair_class(gold: Entity, predicted: Entity) -> ErrorClass:
    missing = any(not _touches(fragment, predicted) for fragment in gold.fragments)
    extra = any(not _touches(fragment, gold) for fragment in predicted.fragments)
    if missing and not extra:
        return ErrorClass.MISSING_FRAGMENT
    if extra and not missing:
        return ErrorClass.EXTRA_FRAGMENT
    return ErrorClass.BOUNDARY


class _SameLabel:
    """Finds entities near one, with the same label."""

    def __init__(self, entities: list[Entity]) -> None:
        by_label: dict[str, list[Entity]] = {}
        for entity in entities:
            by_label.setdefault(entity.label, []).append(entity)
        self._nearby = {label: Nearby(own) for label, own in by_label.items()}

    def around(self, entity: Entity) -> list[Entity]:
        nearby = self._nearby.get(entity.label)
        return nearby(entity.start, entity.end) if nearby else []


def _touches(fragment: Fragment, entity: Entity) -> bool:
    return any(fragment.start < end and start < fragment.end for start, end in entity.fragments)


def _contains(whole: Entity, part: Entity) -> bool:
    return all(
        any(start <= fragment.start and fragment.end <= end for start, end in whole.fragments)
        for fragment in part.fragments
    )


def _shared(one: Entity, other: Entity) -> int:
    """How many characters two entities have in common."""
    return sum(max(0, min(a.end, b.end) - max(a.start, b.start)) for a in one.fragments for b in other.fragments)


def _closeness(one: Entity, other: Entity) -> float:
    shared = _shared(one, other)
    return shared / (_length(one) + _length(other) - shared)


def _length(entity: Entity) -> int:
    return sum(end - start for start, end in entity.fragments)


LONGEST = 240  # characters of a sentence; longer ones are hard to read
HARDEST_FIRST = (Kind.DISCONTINUOUS, Kind.OVERLAPPED, Kind.REGULAR)  # examples of the kinds alternate in this order


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
        return next(kind for kind in HARDEST_FIRST if kind in kinds)

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
    kinds = cycle(HARDEST_FIRST)
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
