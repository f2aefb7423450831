"""What annotators of one text agree on, what they do not, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from disconer.core.types import Document, Entity
from disconer.evaluate.measures import Key
from disconer.evaluate.mistakes import ErrorClass, Mistake, mistakes

Versions = Mapping[str, Document]  # one document, by annotator


class Disagreement(StrEnum):
    """Why two annotators disagree.

    MISSED: only one of them has it. LABEL: the same fragments, different labels.
    FRAGMENTS: one label and shared text, but one has a fragment more, or another number of fragments.
    BOUNDARY: one label and shared text, anything else: other ends, or one entity for several.
    """

    MISSED = "missed"
    LABEL = "label"
    BOUNDARY = "boundary"
    FRAGMENTS = "fragments"


_MISSED = (ErrorClass.MISSED, ErrorClass.SPURIOUS)
_FRAGMENTS = (ErrorClass.MISSING_FRAGMENT, ErrorClass.EXTRA_FRAGMENT)


def disagreement(mistake: Mistake) -> Disagreement:
    """The class of a difference between two annotators, one of whom is treated as gold."""
    if mistake.error in _MISSED:
        return Disagreement.MISSED
    if mistake.error is ErrorClass.WRONG_TYPE:
        return Disagreement.LABEL
    first, second = (max(len(entity.fragments) for entity in side) for side in (mistake.gold, mistake.predicted))
    return Disagreement.FRAGMENTS if mistake.error in _FRAGMENTS or first != second else Disagreement.BOUNDARY


@dataclass(frozen=True, slots=True)
class Difference:
    """What two annotators, `first` and `second`, have instead of each other; either may have nothing."""

    disagreement: Disagreement
    first: str
    second: str
    mistake: Mistake

    @property
    def entities(self) -> tuple[Entity, ...]:
        return self.mistake.gold + self.mistake.predicted


@dataclass(frozen=True, slots=True)
class Dispute:
    """Entities that share text and that not all annotators have.

    versions: of each annotator of the document, those of them that it has; maybe none.
    differences: of each two annotators.
    """

    versions: Mapping[str, tuple[Entity, ...]]
    differences: tuple[Difference, ...]

    @property
    def entities(self) -> list[Entity]:
        return [entity for own in self.versions.values() for entity in own]

    @property
    def start(self) -> int:
        return min(entity.start for entity in self.entities)

    @property
    def end(self) -> int:
        return max(entity.end for entity in self.entities)

    @property
    def classes(self) -> list[Disagreement]:
        present = {difference.disagreement for difference in self.differences}
        return [one for one in Disagreement if one in present]


def agreed(versions: Versions) -> tuple[Entity, ...]:
    """The entities that all annotators of a document have, in the order of the text; none if only one has it."""
    keys = _agreed_keys(versions)
    first = next(iter(versions.values()))
    found = {entity.key: entity for entity in first.entities if entity.key in keys}
    return tuple(sorted(found.values(), key=lambda entity: (entity.fragments, entity.label)))


def _agreed_keys(versions: Versions) -> set[Key]:
    sets = [{entity.key for entity in document.entities} for document in versions.values()]
    return set.intersection(*sets) if len(sets) > 1 else set()


def differences(versions: Versions) -> Iterator[Difference]:
    """What each two annotators have instead of each other."""
    for first, second in combinations(versions, 2):
        for mistake in mistakes(versions[first], versions[second]):
            yield Difference(disagreement(mistake), first, second, mistake)


def disputes(versions: Versions) -> list[Dispute]:
    """The entities that not all annotators have, those that share text together, in the order of the text."""
    known = _agreed_keys(versions)
    groups = _sharing_text({entity.key for document in versions.values() for entity in document.entities} - known)
    owners = {key: number for number, group in enumerate(groups) for key in group}
    own: list[dict[str, dict[Key, Entity]]] = [{name: {} for name in versions} for _ in groups]
    for name, document in versions.items():
        for entity in document.entities:
            if entity.key in owners:
                own[owners[entity.key]][name].setdefault(entity.key, entity)
    between: list[list[Difference]] = [[] for _ in groups]
    for difference in differences(versions):
        between[owners[difference.entities[0].key]].append(difference)
    return [
        Dispute({name: tuple(entities.values()) for name, entities in versions.items()}, tuple(found))
        for versions, found in zip(own, between, strict=True)
    ]


def _sharing_text(keys: set[Key]) -> list[set[Key]]:
    """Groups of entities that are linked by shared text, in the order of their first characters."""
    groups: dict[Key, set[Key]] = {key: {key} for key in keys}
    reach, last = 0, None  # the furthest end so far, and whose it is
    for start, end, key in sorted((start, end, one) for one in keys for start, end in one[1]):
        if last is not None and start < reach and groups[key] is not groups[last]:
            joined = groups[key] | groups[last]
            for one in joined:
                groups[one] = joined
        if end > reach:
            reach, last = end, key
    unique = {id(group): group for group in groups.values()}
    return sorted(unique.values(), key=lambda group: min(key[1] for key in group))
