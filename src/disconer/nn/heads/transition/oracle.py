"""The static oracle: from the entities of a sentence to the actions that make them. No torch here.

The rules are those of Dai et al. (2020). In each state, the first that applies:

1. COMPLETE, if the span on top is an entity and no other entity has all its words;
2. join the two spans on top, if some entity has all words of both: by LEFT-REDUCE if another has those of the left one
   only, by RIGHT-REDUCE if another has those of the right one only, else by REDUCE;
3. SHIFT, if the next word belongs to an entity, else OUT.

Where this comes to a dead end, an entity that cannot be made any more, the oracle goes back and tries the other
actions, in the order of the rules. Labels play no part in it: entities of different labels may share words.

What no sequence of actions makes is left out, larger entities being preferred. It is
- an entity with two fragments that have no word in between;
- one of two entities with the same words;
- one of two entities whose words alternate, none of them shared;
- one of the four of a coordination of two with two ("pain and stiffness in knees and hands"), and the like: a REDUCE
  keeps one of its spans, not both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from disconer.evaluate.check import Reach, WordEntity
from disconer.nn.heads.transition.actions import (
    FIRST_COMPLETE,
    LEFT_REDUCE,
    OUT,
    REDUCE,
    RIGHT_REDUCE,
    SHIFT,
    Entity,
    Span,
    State,
    entities_of,
    ranges_of,
    span_of,
)
from disconer.text.alignment import Range

MORE_STATES = 1000  # beyond those that any sentence may need: how many are tried before entities count as impossible


class Oracle(NamedTuple):
    """The actions for a sentence, and the entities that they do not make."""

    actions: tuple[int, ...]
    lost: tuple[WordEntity, ...]


def oracle(entities: Iterable[WordEntity], n_words: int, label_numbers: Mapping[str, int]) -> Oracle:
    """The actions make exactly the given entities less those lost.

    >>> oracle([("ADR", ((0, 1), (3, 4))), ("ADR", ((2, 4),))], 4, {"ADR": 0}).actions
    (0, 1, 0, 0, 4, 5, 2, 5)
    """
    keys = list(dict.fromkeys(entities))
    numbered = {(label_numbers[label], span_of(ranges)): (label, ranges) for label, ranges in keys if _whole(ranges)}
    different = {span: label for label, span in sorted(numbered, reverse=True)}  # of the same words, one label
    kept: set[Entity] = set()
    actions: list[int] = []
    front = 0
    for (first, end), together in _stretches([(label, span) for span, label in different.items()]):
        possible, more = _most(together, first, end)
        kept.update(possible)
        actions += [OUT] * (first - front) + more
        front = end
    actions += [OUT] * (n_words - front)
    made = {numbered[entity] for entity in kept}
    return Oracle(tuple(actions), tuple(key for key in keys if key not in made))


def _whole(ranges: tuple[Range, ...]) -> bool:
    """Whether there are words between all fragments: a span knows its words only."""
    return ranges == ranges_of(span_of(ranges))


def _stretches(entities: Iterable[Entity]) -> list[tuple[Range, list[Entity]]]:
    """Stretches of words with their entities, so that none reaches into another: each can be read by itself."""
    found: list[tuple[Range, list[Entity]]] = []
    for entity in sorted(entities, key=lambda one: (one[1] & -one[1], one)):
        first, end = (entity[1] & -entity[1]).bit_length() - 1, entity[1].bit_length()
        if found and first < found[-1][0][1]:
            (start, earlier), own = found.pop()
            found.append(((start, max(earlier, end)), [*own, entity]))
        else:
            found.append(((first, end), [entity]))
    return found


def _most(entities: Sequence[Entity], first: int, end: int) -> tuple[Sequence[Entity], list[int]]:
    """As many entities as can be made together, larger ones first, and the actions for the words [first, end)."""
    actions = search(entities, first, end)
    if actions is not None:
        return entities, actions
    kept: list[Entity] = []
    actions = [OUT] * (end - first)
    for entity in sorted(entities, key=lambda one: (-one[1].bit_count(), one)):
        more = search([*kept, entity], first, end)
        if more is not None:
            kept.append(entity)
            actions = more
    return kept, actions


class Search(NamedTuple):
    """A state, and the entities that are still to be made."""

    state: State
    left: frozenset[Entity]

    @property
    def possible(self) -> bool:
        """Whether each span is part of an entity, and spans have all words of each entity that have been read."""
        front, stack = self.state
        read = (1 << front) - 1
        useful = 0
        for _, entity in self.left:
            having = 0
            for number, span in enumerate(stack):
                if not span & ~entity:
                    having |= span
                    useful |= 1 << number
            if entity & read & ~having:
                return False
        return useful == (1 << len(stack)) - 1

    def options(self, n_words: int) -> Iterator[int]:
        """Actions, in the order of the rules; first those that they demand."""
        reading, joining, completing = self.state.valid(n_words)
        stack, spans = self.state.stack, [span for _, span in self.left]
        complete = [FIRST_COMPLETE + label for label, span in sorted(self.left) if completing and span == stack[-1]]
        alone = bool(complete) and _having(spans, stack[-1]) == 1
        if alone:
            yield from complete
        if joining and (both := _having(spans, stack[-2] | stack[-1])):
            needed = (_having(spans, stack[-2]) > both, _having(spans, stack[-1]) > both, True)
            ways = (LEFT_REDUCE, RIGHT_REDUCE, REDUCE)
            yield from sorted(ways, key=lambda way: not needed[ways.index(way)])
        if reading:
            yield SHIFT if _having(spans, 1 << self.state.front) else OUT
        if not alone:
            yield from complete

    def after(self, action: int) -> Search:
        done = {(action - FIRST_COMPLETE, self.state.stack[-1])} if action >= FIRST_COMPLETE else set()
        return Search(self.state.after(action), self.left - done)


def _having(spans: Sequence[Span], span: Span) -> int:
    """How many of some spans have all words of one."""
    return sum(not span & ~one for one in spans)


def search(entities: Iterable[Entity], first: int, n_words: int) -> list[int] | None:
    """Actions that make exactly these entities from the words [first, n_words); None if there are none.

    Depth first; dead ends are remembered.
    """
    start = Search(State(first), frozenset(entities))
    seen = {start}
    actions: list[int] = []
    path = [(start, start.options(n_words))]
    while path:
        here, options = path[-1]
        if not here.left and here.state == State(n_words):
            return actions
        for action in options:
            following = here.after(action)
            if following not in seen and following.possible:
                seen.add(following)
                path.append((following, following.options(n_words)))
                actions.append(action)
                break
        else:
            path.pop()
            del actions[-1:]
        if len(seen) > MORE_STATES + 4 * n_words:
            return None
    return None


NO_GAP = "has two fragments without a word in between"
SAME_WORDS = "has the same words as an entity of another label"
ALTERNATING = "has words that alternate with those of another entity"
SHARING = "shares words with other entities in a way for which no actions were found"


def transition_reach(entities: Iterable[WordEntity], n_words: int) -> Reach:
    """What can be found of the entities of a sentence."""
    return _reach(tuple(dict.fromkeys(entities)), n_words)


@lru_cache(maxsize=64)  # several heads ask for the same sentence, one after another
def _reach(keys: tuple[WordEntity, ...], n_words: int) -> Reach:
    labels = sorted({label for label, _ in keys})
    actions, lost = oracle(keys, n_words, {label: number for number, label in enumerate(labels)})
    found = frozenset((labels[label], ranges_of(span)) for label, span in entities_of(actions))
    return Reach(found, {key: _why_lost(key, keys) for key in lost})


def _why_lost(key: WordEntity, keys: Sequence[WordEntity]) -> str:
    if not _whole(key[1]):
        return NO_GAP
    own = span_of(key[1])
    others = [span_of(ranges) for label, ranges in keys if (label, ranges) != key]
    if own in others:
        return SAME_WORDS
    return SHARING if any(own & other for other in others) else ALTERNATING
