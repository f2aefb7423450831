"""Fragments, entities, documents.

All are immutable and checked once, on construction. Offsets are Unicode code points, half-open,
into the document's unmodified text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import index
from typing import Any, NamedTuple

from disconer.core.errors import excerpt
from disconer.core.sentence import Sentence

Key = tuple[Hashable, Sequence[tuple[int, int]]]  # label and fragments


def sharing_text(keys: Sequence[Key]) -> list[bool]:
    """For each entity, whether it shares characters with another one. Duplicates do not count as another one.

    >>> sharing_text([("A", ((0, 4),)), ("A", ((0, 4),)), ("B", ((6, 9), (11, 12))), ("B", ((8, 10),))])
    [False, False, True, True]
    """
    numbers: dict[Key, int] = {}
    owners = [numbers.setdefault(key, len(numbers)) for key in keys]
    sweep = sorted([(start, end, owner) for owner, key in zip(owners, keys, strict=True) for start, end in key[1]])
    shares = [False] * len(numbers)
    reach, reached_by = 0, -1  # the furthest end so far; what overlaps anything earlier overlaps its owner
    for start, end, owner in sweep:
        if start < reach and owner != reached_by:
            shares[owner] = shares[reached_by] = True
        if end > reach:
            reach, reached_by = end, owner
    return [shares[owner] for owner in owners]


Pairs = Iterable[tuple[int, int] | Sequence[int]]

_set = object.__setattr__  # frozen dataclasses are filled through this


class Fragment(NamedTuple):
    """A character range [start, end) of a document's text."""

    start: int
    end: int


class Kind(StrEnum):
    """The shape of an entity within its document."""

    REGULAR = "regular"
    OVERLAPPED = "overlapped"
    DISCONTINUOUS = "discontinuous"


_REGULAR, _OVERLAPPED, _DISCONTINUOUS = Kind  # looking up members by name would take longer than the rest of `_place`


def normalise(pairs: Pairs, text: str | None = None) -> tuple[Fragment, ...]:
    """Sort ranges and join those that touch or overlap; with `text`, also those that only whitespace separates.

    >>> normalise([(15, 20), (0, 4), (4, 9)])
    (Fragment(start=0, end=9), Fragment(start=15, end=20))
    """
    fragments = sorted(Fragment(index(start), index(end)) for start, end in pairs)
    for start, end in fragments:
        if not 0 <= start < end:
            raise ValueError(f"a fragment needs 0 <= start < end, got [{start}, {end})")
    if not fragments:
        raise ValueError("an entity needs at least one fragment")
    if len(fragments) == 1:
        return tuple(fragments)
    merged = [fragments[0]]
    for fragment in fragments[1:]:
        last = merged[-1]
        if fragment.start <= last.end or (text is not None and text[last.end : fragment.start].isspace()):
            merged[-1] = Fragment(last.start, max(last.end, fragment.end))
        else:
            merged.append(fragment)
    return tuple(merged)


def joined_text(text: str, fragments: Sequence[tuple[int, int]]) -> str:
    """The texts of the fragments, joined by a space."""
    if len(fragments) == 1:
        start, end = fragments[0]
        return text[start:end]
    return " ".join([text[start:end] for start, end in fragments])


_SHOWN = 40  # characters of a text in a repr


@dataclass(frozen=True, slots=True, repr=False)
class Entity:
    """A label and one or more fragments. An empty id is none.

    `text` (the fragments' texts joined by a space) and `kind` are set once the entity is part of a
    `Document`; they are ignored in comparison.
    """

    label: str
    fragments: tuple[Fragment, ...]
    id: str | None = None
    score: float | None = None
    text: str = field(default="", compare=False)
    kind: Kind | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.label or not isinstance(self.label, str):
            raise ValueError(f"an entity needs a label (str), got {self.label!r}")
        if self.id == "":
            _set(self, "id", None)
        elif self.id is not None and not isinstance(self.id, str):
            raise TypeError(f"the id of an entity is a str, got {self.id!r}")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"a score lies between 0 and 1, got {self.score}")
        parts = self.fragments
        if len(parts) != 1 or type(parts[0]) is not Fragment or not 0 <= parts[0][0] < parts[0][1]:
            if parts and isinstance(parts[0], int):
                raise TypeError(f"fragments are pairs (start, end), got {parts!r}; a single one: [{parts!r}]")
            _set(self, "fragments", normalise(parts))

    @property
    def start(self) -> int:
        return self.fragments[0].start

    @property
    def end(self) -> int:
        return self.fragments[-1].end

    @property
    def key(self) -> tuple[str, tuple[Fragment, ...]]:
        """What makes two mentions equal for all metrics: label and fragments."""
        return self.label, self.fragments

    def __repr__(self) -> str:
        """In one line, with what a reader wants to know first."""
        places = ", ".join(f"{start}-{end}" for start, end in self.fragments)
        known = [f"id={self.id!r}"] * (self.id is not None)
        known += [f"score={self.score:.3g}"] if self.score is not None else []
        known += [f"text={excerpt(self.text, _SHOWN)}"] * bool(self.text)
        return f"Entity({', '.join([repr(self.label), f'[{places}]', *known])})"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Entity:
        """From a dictionary as in `to_dict`, native JSONL or the HTTP service; without fragments, from start and end.

        Start and end that contradict the fragments are an error.
        """
        from disconer.core.dictionaries import entity_from_dict  # imported here, as it imports this module

        return entity_from_dict(values)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary with the usual keys of other libraries, plus fragments and kind."""
        return {
            "id": self.id,
            "label": self.label,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "fragments": [list(fragment) for fragment in self.fragments],
            "kind": None if self.kind is None else self.kind.value,
            "score": self.score,
        }

    def _placed(self, text: str, fragments: tuple[Fragment, ...], kind: Kind) -> Entity:
        """This entity as part of a document: itself if it was never part of one or nothing changes, else a copy."""
        surface = joined_text(text, fragments)
        entity = self
        if fragments != self.fragments or (self.kind is not None and (self.kind, self.text) != (kind, surface)):
            entity = Entity(self.label, fragments, self.id, self.score)
        if entity.kind is None:
            _set(entity, "text", surface)
            _set(entity, "kind", kind)
        return entity


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A text, its entities and, where known, its sentences.

    `sentences` is None until the text is split. `extras` holds what a format has beyond
    entities (JSON values, by format name), so that it survives a round trip.
    """

    id: str
    text: str
    entities: tuple[Entity, ...] = ()
    sentences: tuple[Sentence, ...] | None = None
    extras: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not isinstance(self.text, str):
            raise TypeError(f"id and text of a document are str, got {self.id!r} and a {type(self.text).__name__}")
        if not self.id:
            raise ValueError("a document needs an id, got ''")  # most formats could not give it back
        _set(self, "entities", _place(self.text, self.entities))
        if self.sentences is not None:
            _set(self, "sentences", tuple(self.sentences))
            position = 0
            for sentence in self.sentences:
                if not position <= sentence.start <= sentence.end <= len(self.text):
                    raise ValueError(
                        f"sentence [{sentence.start}, {sentence.end}) overlaps the one before it "
                        f"or ends past the text's end ({len(self.text)})"
                    )
                position = sentence.end

    def replace(self, **changes: Any) -> Document:
        """A copy with some parts changed."""
        parts = {name: getattr(self, name) for name in Document.__slots__}
        return Document(**(parts | changes))

    def __repr__(self) -> str:
        """In one line: the start of its text, and the number of its entities."""
        n = len(self.entities)
        return f"Document({self.id!r}, {excerpt(self.text, _SHOWN)}, {n} entit{'y' if n == 1 else 'ies'})"

    def to_dict(self) -> dict[str, Any]:
        """Id, text and entities, for other programs. Sentences and extras are left out, and kept by `write`."""
        return {"id": self.id, "text": self.text, "entities": [entity.to_dict() for entity in self.entities]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Document:
        """From a dictionary as in `to_dict`, a line of native JSONL or the HTTP service.

        An entity whose text, start or end contradict its fragments is an error.
        """
        from disconer.core.dictionaries import document_from_dict  # imported here, as it imports this module

        return document_from_dict(values)

    def to_dataframe(self) -> Any:
        """A pandas data frame with a row for each entity."""
        from disconer.formats.table import to_dataframe  # imported here, as `formats` imports this module

        return to_dataframe([self])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from disconer.render import render_fragment  # imported here, as `render` imports this module

        return render_fragment(self)


def _place(text: str, entities: Iterable[Entity]) -> tuple[Entity, ...]:
    entities = tuple(entities)
    if not entities:
        return entities
    length = len(text)
    keys = []
    for entity in entities:
        parts = entity.fragments
        if parts[-1].end > length:
            raise ValueError(f"entity {entity.label} {list(map(tuple, parts))} ends past the text's end ({length})")
        parts = parts if len(parts) == 1 else normalise(parts, text)
        for start, end in parts:
            if text[start:end].isspace():
                raise ValueError(f"fragment [{start}, {end}) of entity {entity.label} is only whitespace")
        keys.append((entity.label, parts))
    return tuple(
        [
            entity._placed(text, parts, _DISCONTINUOUS if len(parts) > 1 else _OVERLAPPED if shares else _REGULAR)
            for entity, (_, parts), shares in zip(entities, keys, sharing_text(keys), strict=True)
        ]
    )
