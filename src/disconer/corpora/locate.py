"""Where mentions stand in a sentence, when the annotation gives their words and no offsets.

Tried in this order, until one fits:

1. the letters and digits of the mention in one stretch of whole words, whatever the case, spaces and punctuation
   ("weight loss" is found in "Weight-loss"); of several such stretches, one that no other mention needs;
2. its words in order with other words between them, in the shortest stretch that has them all;
3. the same with words that are spelt a little differently ("headache" for "headaches", "anxiety" for "aniexty").

Words between matched ones are a gap; punctuation alone is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import eq
from typing import NamedTuple

from disconer.core.types import Fragment, Token
from disconer.text import TOKENIZERS

_PAUSES = ".,;:!?"  # no part of a mention at its ends, even if the annotation copied them
_ONE_EDIT, _TWO_EDITS = 5, 7  # letters of words that may differ by that many edits
_FAR = 10  # words between parts of a mention at most, if its spelling differs: two doubts are one too many


class Place(NamedTuple):
    """Where a mention stands, and whether its sentence spells it differently."""

    fragments: tuple[Fragment, ...]
    respelt: bool = False


def locate(mentions: Sequence[str], sentence: str) -> list[Place | None]:
    """The place of each mention in the sentence; None for those that it does not have.

    A mention given twice gets two places, if there are two.

    >>> [[sentence[start:end] for start, end in place.fragments]
    ...  for sentence in ["Pain in my knees and hands."]
    ...  for place in locate(["pain in knees", "pain in hands"], sentence)]
    [['Pain in', 'knees'], ['Pain in', 'hands']]
    """
    words = _words(sentence)
    places: list[Place | None] = [None] * len(mentions)
    taken: list[Fragment] = []
    # Long mentions first: a short one that is also part of a long one then gets the place of its own, if it has one.
    for index in sorted(range(len(mentions)), key=lambda index: -len(mentions[index].strip())):
        whole = list(_whole(mentions[index], sentence, words))
        if whole:
            free = [fragment for fragment in whole if not _shares(fragment, taken)]
            taken.append((free or whole)[0])
            places[index] = Place((taken[-1],))
        else:
            places[index] = _in_parts(mentions[index], sentence, words)
    return places


def _words(text: str) -> list[Token]:
    return [token for token in TOKENIZERS["words"](text, 0, len(text)) if text[token.start].isalnum()]


def _letters(text: str, words: Sequence[Token]) -> list[str]:
    return [text[start:end].casefold() for start, end in words]


def _shares(fragment: Fragment, others: Sequence[Fragment]) -> bool:
    return any(fragment.start < other.end and other.start < fragment.end for other in others)


def _whole(mention: str, sentence: str, words: Sequence[Token]) -> Iterator[Fragment]:
    """The stretches of whole words that have the letters and digits of the mention, first to last."""
    wanted = "".join(_letters(mention, _words(mention)))
    letters = _letters(sentence, words)
    for first in range(len(words)):
        last, got = first, letters[first]
        while len(got) < len(wanted) and last + 1 < len(words):
            last += 1
            got += letters[last]
        if got == wanted:
            yield _with_marks(Fragment(words[first].start, words[last].end), mention, sentence)


def _with_marks(fragment: Fragment, mention: str, sentence: str) -> Fragment:
    """The fragment with the brackets and quotes that the mention, too, has at its ends."""
    start, end = fragment
    words = _words(mention)
    for mark in reversed(mention[: words[0].start].strip()):
        if mark in _PAUSES or not sentence[:start].endswith(mark):
            break
        start -= 1
    for mark in mention[words[-1].end :].strip():
        if mark in _PAUSES or not sentence[end:].startswith(mark):
            break
        end += 1
    return Fragment(start, end)


def _in_parts(mention: str, sentence: str, words: Sequence[Token]) -> Place | None:
    wanted, letters = _letters(mention, _words(mention)), _letters(sentence, words)
    for same, respelt in ((eq, False), (_alike, True)):
        path = _shortest(wanted, letters, same) if wanted else None
        if path and not (respelt and path[-1] - path[0] + 1 - len(path) > _FAR):
            parts: list[Fragment] = []
            for index, before in zip(path, (None, *path), strict=False):
                start = parts.pop().start if before is not None and index == before + 1 else words[index].start
                parts.append(Fragment(start, words[index].end))
            return Place(tuple(parts), respelt)
    return None


def _shortest(
    wanted: Sequence[str], letters: Sequence[str], same: Callable[[str, str], bool]
) -> tuple[int, ...] | None:
    """Positions of the wanted words, in order: in the shortest stretch, then with the fewest gaps, then the first.

    >>> _shortest(["a", "b"], ["a", "c", "a", "d", "b", "b"], eq)
    (2, 4)
    """
    # By the position of the last word so far: the number of gaps, and the path. Of two paths to a position, the one
    # that starts later is shorter.
    paths: dict[int, tuple[int, tuple[int, ...]]] = {
        position: (0, (position,)) for position, word in enumerate(letters) if same(wanted[0], word)
    }
    for want in wanted[1:]:
        longer: dict[int, tuple[int, tuple[int, ...]]] = {}
        for position, word in enumerate(letters):
            if same(want, word):
                reaching = [
                    (gaps + (before + 1 < position), (*path, position))
                    for before, (gaps, path) in paths.items()
                    if before < position
                ]
                if reaching:
                    longer[position] = min(reaching, key=lambda found: (-found[1][0], found[0]))
        paths = longer
    if not paths:
        return None
    return min(paths.values(), key=lambda found: (found[1][-1] - found[1][0], found[0], found[1][0]))[1]


def _alike(one: str, other: str) -> bool:
    """Whether two words are the same but for a plural's s or a slip of the pen.

    >>> _alike("lb", "lbs"), _alike("anxiety", "aniexty"), _alike("loss", "lost"), _alike("increased", "decreased")
    (True, True, False, False)
    """
    if one == other or one + "s" == other or other + "s" == one:
        return True
    longer = max(len(one), len(other))
    allowed = (longer >= _ONE_EDIT) + (longer >= _TWO_EDITS)
    return one[0] == other[0] and abs(len(one) - len(other)) <= allowed and _edits(one, other) <= allowed


def _edits(one: str, other: str) -> int:
    """Letters put in, left out, replaced or swapped with their neighbour to get from one word to the other."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, letter2 in enumerate(other, 1):
            row.append(min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != letter2)))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == letter2:
                row[j] = min(row[j], before[j - 2] + 1)
        before, last = last, row
    return last[-1]
