"""The parts of entities: how each scheme names them, and how it joins them again. See `schemes`. No torch here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, product
from typing import NamedTuple

from disconer.text.alignment import Range, merge_adjacent, words_of

WHOLE, HEAD, BODY = "", "H", "D"
AFTER_HEAD, AFTER_BODY, BEFORE_HEAD, BEFORE_BODY = "D1", "D2", "D3", "D4"

Key = tuple[str, tuple[Range, ...]]  # an entity: its label and its word ranges, sorted


class Part(NamedTuple):
    """A run of words that belong to the same entities: these, by position."""

    words: Range
    owners: tuple[int, ...]


# The names of parts, in their order; None if the scheme has none for them.
Naming = Callable[[Sequence[Part]], list[str] | None]
# The named runs of words of one label, in order, as entities: the word ranges of each.
Joining = Callable[[Sequence[tuple[str, Range]]], Iterator[tuple[Range, ...]]]


def parts_of(entities: Sequence[Key]) -> list[Part] | None:
    """The parts of entities, in the order of the sentence; None where entities of different labels share words."""
    owners: defaultdict[int, tuple[int, ...]] = defaultdict(tuple)
    for number, (label, ranges) in enumerate(entities):
        for word in dict.fromkeys(words_of(ranges)):
            if any(entities[other][0] != label for other in owners[word]):
                return None
            owners[word] += (number,)
    parts = []
    # Words of one run are as far apart as their positions in the order.
    for (_, own), run in groupby(enumerate(sorted(owners)), key=lambda item: (item[1] - item[0], owners[item[1]])):
        words = [word for _, word in run]
        parts.append(Part((words[0], words[-1] + 1), own))
    return parts


def _of_entities(parts: Sequence[Part]) -> dict[int, list[int]]:
    """The parts of each entity, by position."""
    own: defaultdict[int, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        for owner in part.owners:
            own[owner].append(number)
    return own


# BIO


def name_bio(parts: Sequence[Part]) -> list[str] | None:
    alone = all(len(part.owners) == 1 for part in parts)
    return [WHOLE] * len(parts) if alone and all(len(own) == 1 for own in _of_entities(parts).values()) else None


def join_nothing(runs: Sequence[tuple[str, Range]]) -> Iterator[tuple[Range, ...]]:
    yield from ()


# BIOHD


def name_biohd(parts: Sequence[Part]) -> list[str] | None:
    n_parts = {owner: len(own) for owner, own in _of_entities(parts).items()}
    alone = [WHOLE if n_parts[part.owners[0]] == 1 else BODY for part in parts]
    return [HEAD if len(part.owners) > 1 else name for part, name in zip(parts, alone, strict=True)]


def join_biohd(runs: Sequence[tuple[str, Range]]) -> Iterator[tuple[Range, ...]]:
    """Every head with every body; bodies without a head are one entity, heads without a body one each."""
    heads = [words for part, words in runs if part == HEAD]
    bodies = [words for part, words in runs if part == BODY]
    if heads and bodies:
        yield from (merge_adjacent(pair) for pair in product(heads, bodies))
    elif bodies:
        yield merge_adjacent(bodies)
    else:
        yield from ((head,) for head in heads)


# BIOHD1234


def name_biohd1234(parts: Sequence[Part]) -> list[str] | None:
    names = [HEAD if len(part.owners) > 1 else WHOLE for part in parts]
    for own in _of_entities(parts).values():
        shared = [names[number] == HEAD for number in own]
        if len(own) == 1 and not shared[0]:
            continue
        if len(own) != 2 or all(shared):
            return None
        before, after = own
        if not shared[0]:
            names[before] = BEFORE_HEAD if shared[1] else BEFORE_BODY
        if not shared[1]:
            names[after] = AFTER_HEAD if shared[0] else AFTER_BODY
    return names


def join_biohd1234(runs: Sequence[tuple[str, Range]]) -> Iterator[tuple[Range, ...]]:
    """Each D with its partner; a D without one is nothing, an H that no D joins is an entity."""
    heads = [words for part, words in runs if part == HEAD]
    bodies = [words for part, words in runs if part == AFTER_BODY]
    joined: set[Range] = set()
    for part, words in runs:
        partner: Range | None = None
        if part == BEFORE_HEAD:
            partner = next((head for head in heads if head > words), None)
        elif part == AFTER_HEAD:
            partner = next((head for head in reversed(heads) if head < words), None)
        elif part == BEFORE_BODY:
            partner = next((body for body in bodies if body > words and body not in joined), None)
        if partner is not None:
            joined.add(partner)
            yield merge_adjacent((words, partner))
    yield from ((head,) for head in heads if head not in joined)
