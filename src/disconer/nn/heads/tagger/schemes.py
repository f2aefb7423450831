"""Tag schemes: the entities of a sentence as one tag per word, and back. No torch here.

A tag is O, or a mark and an entity label: B- for the first word of a part, I- for its other words. The mark
is preceded by the part of an entity that it is (nothing for a whole entity). A *part* is a run of words that belong
to the same entities.

BIO        whole continuous entities only.
BIOHD      Tang et al. 2013. H: words that several entities share. D: the other words of these entities, and of
           discontinuous ones.
BIOHD1234  Tang et al. 2015. As BIOHD, and a D part says where its partner is: D1 after an H, D3 before an H,
           D2 after a D4, D4 before a D2.

Every scheme loses something, as a word has one tag. None can represent
- entities of different labels that share words;
- an entity all of whose words another entity has, too (nested entities of one label);
- two fragments without a word between them.

BIO also loses every discontinuous entity, and one of any two that share words.

BIOHD reads every D of a label with every H of it in the sentence; without an H, all D are one entity. So beside
whole entities it can represent, per label and sentence, either one discontinuous entity of any number of fragments, or
entities that share one H, each with one D of its own.

BIOHD1234 reads D3 with the nearest H after it, D1 with the nearest H before it, D4 with the next free D2. So it
can represent any number of entities of two parts, one of them not shared, as long as no other H (or D2) comes between.
It loses entities of three parts, and entities both of whose parts are shared (a 2×2 coordination).

`Scheme.encode` leaves out what could not be decoded again, larger entities first, so the tags always decode to exactly
the entities that it does not report as lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from disconer.nn.heads.tagger.parts import (
    AFTER_BODY,
    AFTER_HEAD,
    BEFORE_BODY,
    BEFORE_HEAD,
    BODY,
    HEAD,
    WHOLE,
    Joining,
    Key,
    Naming,
    join_biohd,
    join_biohd1234,
    join_nothing,
    name_bio,
    name_biohd,
    name_biohd1234,
    parts_of,
)
from disconer.text.alignment import Range, words_of

OUTSIDE = "O"
MOST_ENTITIES = 1000  # of one label in a sentence: only an untrained model finds more

Bools = NDArray[np.bool_]


class Encoded(NamedTuple):
    """A sentence in tags, and the entities that the tags leave out."""

    tags: tuple[str, ...]
    lost: tuple[Key, ...]


class Transitions(NamedTuple):
    """Which tags may start a sentence, follow one another and end it.

    start, end:  Shape: (T,)
    between: from a tag (row) to the next (column).  Shape: (T, T)
    """

    start: Bools
    between: Bools
    end: Bools


class Scheme(Protocol):
    """A way of writing entities as tags."""

    @property
    def name(self) -> str: ...

    def tags(self, labels: Sequence[str]) -> tuple[str, ...]:
        """All tags over some entity labels; O comes first."""

    def encode(self, entities: Iterable[Key], n_words: int) -> Encoded:
        """The tags of a sentence. They decode to the given entities less those lost, each once."""

    def decode(self, tags: Sequence[str]) -> list[Key]:
        """The entities that tags stand for, sorted. Any sequence of the scheme's tags stands for some."""

    def transitions(self, tags: Sequence[str]) -> Transitions:
        """Which tags may follow which, so that every tag is meaningful in its position."""


@dataclass(frozen=True)
class PartScheme:
    """A scheme, given by the names of its parts, how to name and how to join them.

    first_not, last_not: parts that cannot start or end a sentence, as there is no room for their partner.
    """

    name: str
    parts: tuple[str, ...]
    naming: Naming
    joining: Joining
    first_not: tuple[str, ...] = ()
    last_not: tuple[str, ...] = ()

    def tags(self, labels: Sequence[str]) -> tuple[str, ...]:
        """See `Scheme`.

        >>> BIOHD.tags(["Drug"])
        ('O', 'B-Drug', 'I-Drug', 'HB-Drug', 'HI-Drug', 'DB-Drug', 'DI-Drug')
        """
        return OUTSIDE, *(f"{part}{mark}-{label}" for label, part, mark in product(labels, self.parts, "BI"))

    def encode(self, entities: Iterable[Key], n_words: int) -> Encoded:
        """See `Scheme`.

        >>> BIOHD1234.encode([("ADR", ((0, 1), (3, 4))), ("ADR", ((2, 4),))], 4).tags
        ('D3B-ADR', 'O', 'D3B-ADR', 'HB-ADR')
        """
        wanted = list(dict.fromkeys(entities))
        check_ranges(wanted, n_words)
        tags = self._exact(wanted, n_words)
        if tags is not None:
            return Encoded(tags, ())
        kept: list[Key] = []
        tags = (OUTSIDE,) * n_words
        for entity in sorted(wanted, key=largest_first):
            more = self._exact([*kept, entity], n_words)
            if more is not None:
                kept.append(entity)
                tags = more
        return Encoded(tags, tuple(entity for entity in wanted if entity not in kept))

    def decode(self, tags: Sequence[str]) -> list[Key]:
        """See `Scheme`.

        >>> BIOHD1234.decode(["D3B-ADR", "O", "D3B-ADR", "HB-ADR"])
        [('ADR', ((0, 1), (3, 4))), ('ADR', ((2, 4),))]
        """
        found: list[Key] = []
        named: defaultdict[str, list[tuple[str, Range]]] = defaultdict(list)
        for part, label, words in self._runs(tags):
            if part == WHOLE:
                found.append((label, (words,)))
            else:
                named[label].append((part, words))
        for label, runs in named.items():
            found += [(label, ranges) for ranges in islice(self.joining(runs), MOST_ENTITIES)]
        return sorted(found, key=lambda entity: (entity[1], entity[0]))

    def transitions(self, tags: Sequence[str]) -> Transitions:
        """See `Scheme`. I- follows B- or I- of its part and label only."""
        parsed = [parse(tag) for tag in tags]
        inside = np.array([mark == "I" for _, mark, _ in parsed], dtype=bool)
        runs = [(part, label) for part, _, label in parsed]
        same = np.array([[run == following for following in runs] for run in runs], dtype=bool)
        first_not = np.array([part in self.first_not for part, _, _ in parsed], dtype=bool)
        last_not = np.array([part in self.last_not for part, _, _ in parsed], dtype=bool)
        return Transitions(start=~inside & ~first_not, between=same | ~inside, end=~last_not)

    def _exact(self, entities: Sequence[Key], n_words: int) -> tuple[str, ...] | None:
        """Tags that decode to exactly these entities; None if there are none."""
        parts = parts_of(entities)
        if parts is None or (names := self.naming(parts)) is None:
            return None
        tags = [OUTSIDE] * n_words
        for (words, owners), name in zip(parts, names, strict=True):
            label = entities[owners[0]][0]
            for word in range(*words):
                tags[word] = f"{name}{'B' if word == words[0] else 'I'}-{label}"
        found = self.decode(tags)
        return tuple(tags) if len(found) == len(entities) and set(found) == set(entities) else None

    def _runs(self, tags: Sequence[str]) -> Iterator[tuple[str, str, Range]]:
        """Runs of tags that continue one another: part, label, words. An I- that continues nothing starts a run."""
        first, current = 0, (WHOLE, "")
        for word, tag in enumerate([*tags, OUTSIDE]):
            part, mark, label = parse(tag)
            if part not in self.parts:
                raise ValueError(f"{tag!r} is not a tag of {self.name}, whose parts are {', '.join(self.parts)}")
            if mark != "I" or (part, label) != current:
                if current[1]:
                    yield *current, (first, word)
                first, current = word, (part, label)


@lru_cache(maxsize=4096)
def parse(tag: str) -> tuple[str, str, str]:
    """The part, mark and label of a tag; of O, the label is empty.

    >>> parse("D1B-cell-line"), parse("I-Drug"), parse("O")
    (('D1', 'B', 'cell-line'), ('', 'I', 'Drug'), ('', 'O', ''))
    """
    if tag == OUTSIDE:
        return WHOLE, OUTSIDE, ""
    prefix, _, label = tag.partition("-")
    if not label or prefix[-1:] not in ("B", "I"):
        raise ValueError(f"{tag!r} is not a tag: expected O, or B- or I- (H, D, D1 to D4 may precede) and a label")
    return prefix[:-1], prefix[-1], label


def continuation(tag: str) -> str:
    """The tag that continues the part of a tag other than O.

    >>> continuation("HB-Drug"), continuation("I-Drug")
    ('HI-Drug', 'I-Drug')
    """
    part, _, label = parse(tag)
    return f"{part}I-{label}"


def largest_first(entity: Key) -> tuple[int, tuple[Range, ...], str]:
    """The order in which entities are tried where not all can be represented."""
    label, ranges = entity
    return -len(words_of(ranges)), ranges, label


def check_ranges(entities: Iterable[Key], n_words: int) -> None:
    for label, ranges in entities:
        if not ranges or not all(0 <= first < end <= n_words for first, end in ranges):
            raise ValueError(f"entity {label} {ranges} is not within a sentence of {n_words} words")


BIO = PartScheme("BIO", (WHOLE,), name_bio, join_nothing)
BIOHD = PartScheme("BIOHD", (WHOLE, HEAD, BODY), name_biohd, join_biohd)
BIOHD1234 = PartScheme(
    "BIOHD1234",
    (WHOLE, HEAD, AFTER_HEAD, AFTER_BODY, BEFORE_HEAD, BEFORE_BODY),
    name_biohd1234,
    join_biohd1234,
    first_not=(AFTER_HEAD, AFTER_BODY),
    last_not=(BEFORE_HEAD, BEFORE_BODY),
)
SCHEMES: Mapping[str, Scheme] = {scheme.name: scheme for scheme in (BIO, BIOHD, BIOHD1234)}
