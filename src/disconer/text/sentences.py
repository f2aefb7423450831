"""From text to sentences and tokens: sentence splitters, tokenizers, and documents with both.

First, which line breaks end something, and which were made to fit a page: from lines to units of running text. A blank
line, a form feed or a paragraph separator always ends a unit, and so does a line break before a list item, a section
heading, a "Key: value" line or a row of a table. Any other single line break was either made on purpose (criteria,
forum posts: one statement a line) or to fit a width. No cue decides that alone. Lines broken to fit a width are about
as long as it, the first word of the next line had no room on them, and they end anywhere, within sentences and after
words that end none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Literal, NamedTuple, Protocol

from disconer.core.errors import DisconerError
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document
from disconer.text.alignment import ZERO_WIDTH
from disconer.text.line_breaks import FULL_STOPS, NARROWEST, Break, Line, line_breaks
from disconer.text.stops import sentence_ends

_ENDS = r"\n\v\f\r\x1c-\x1e\x85\u2028\u2029"  # of lines, as `str.splitlines` has them
_LINE, _END = re.compile(f"[^{_ENDS}]+"), re.compile(f"[{_ENDS}]")
_SINGLE_BREAKS = frozenset(["\n", "\r\n", "\r", "\x85", "\u2028"])
_TAB = 8  # columns

# Between items of a list within a line; dashes and asterisks mean other things there.
_INLINE_BULLET = re.compile(r"(?<=\s)[•▪‣◦●■➢](?=\s)")

_WIDEST = 160  # columns of what may be a page
_ENOUGH = 6  # lines that fit one width: fewer may do so by chance
_MOST, _FEW = 0.75, 0.1  # of lines: masked names and tables disturb the picture
_ITEMS = 0.3  # list items for each line that was broken to fit: a title is not a list
_PLAUSIBLE = 45  # columns: what a single line has to have to be taken for a full one
_SEVERAL = 2  # full lines of one sentence, or of several: they need not be as wide
_SLACK = 0.2  # of the width: letters of different widths, and names masked after the lines were broken


class _Page(NamedTuple):
    """The width that lines were broken to fit; none of them is wider than `most`."""

    width: float
    most: float

    def is_full(self, line_break: Break) -> bool:
        return line_break.needed > self.width


def units(text: str) -> Iterator[tuple[int, int]]:
    """Stretches [start, end) of `text`, in order, covering all but whitespace and with none at either end."""
    for start, end in _joined_lines(text):
        for bullet in _INLINE_BULLET.finditer(text, start + 1, end):
            yield start, start + len(text[start : bullet.start()].rstrip())
            start = bullet.start()
        yield start, end


def _joined_lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines, and those that were broken to fit a width as one."""
    if not _END.search(text):  # a single line, as most texts that come by themselves are
        if body := text.strip():
            start = len(text) - len(text.lstrip())
            yield start, start + len(body)
        return
    blocks = list(_blocks(_lines(text)))
    breaks = [line_breaks(text, block) if len(block) > 1 else [] for block in blocks]
    usual = _page([one for own in breaks for one in own], [line for block in blocks for line in block])
    for block, own in zip(blocks, breaks, strict=True):
        page = _page(own, block)
        if page is None and usual and all(line.width <= usual.most for line in block):
            page = usual
        itemised = page is not None and _is_itemised(own, page)
        start = block[0].start
        for line, following, one in zip(block, block[1:], own, strict=False):
            if not _is_joined(one, page, itemised=itemised):
                yield start, line.end
                start = following.start
        yield start, block[-1].end


def _lines(text: str) -> Iterator[Line]:
    """Lines that are not blank, without the whitespace around them."""
    last_break = 0  # where the line break after the last line that was not blank begins
    for match in _LINE.finditer(text):
        line = match.group()
        body = line.lstrip()
        if body:
            start = match.end() - len(body)
            column = len(line[: len(line) - len(body)].expandtabs(_TAB))
            yield Line(start, start + len(body.rstrip()), column, text[last_break : match.start()] in _SINGLE_BREAKS)
            last_break = match.end()


def _blocks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Lines with single breaks between them."""
    number = 0

    def block_of(line: Line) -> int:
        nonlocal number
        number += not line.follows
        return number

    for _, block in groupby(lines, block_of):
        yield list(block)


def _page(breaks: Sequence[Break], lines: Sequence[Line]) -> _Page | None:
    """The width that lines were broken to fit; None if it seems that they were not."""
    witnesses = [one for one in breaks if one.goes_on]
    if not witnesses:
        return None
    for page in (_exact(witnesses, share=1 - _FEW), _about(witnesses), _exact(witnesses, share=_MOST)):
        if page and NARROWEST <= page.width <= _WIDEST:
            too_wide = sum(line.width > page.most for line in lines)
            if too_wide <= _FEW * len(lines):
                return page
    return None


def _exact(witnesses: Sequence[Break], *, share: float) -> _Page | None:
    """A width that the lines keep and that the next word would have exceeded, as programs break lines.

    Each line implies a range of widths; the page is where most ranges meet, at least this share of them.
    """
    ends = sorted([(one.width, 1) for one in witnesses] + [(one.needed, -1) for one in witnesses])
    deepest = depth = width = most = 0
    for place, (at, change) in enumerate(ends):
        depth += change
        if depth > deepest:
            deepest, width, most = depth, at, ends[place + 1][0]
    fitting = [one for one in witnesses if one.width <= width < one.needed]
    rounded = sum(one.rounded for one in fitting)
    a_sentence = rounded >= _SEVERAL or (rounded and width >= _PLAUSIBLE)
    enough = deepest >= _ENOUGH or a_sentence or any(one.inside for one in fitting)
    return _Page(width, most) if enough and deepest >= share * len(witnesses) else None


def _about(witnesses: Sequence[Break]) -> _Page | None:
    """The approximate width of the lines, if enough of them end within a sentence."""
    width = sorted(one.width for one in witnesses)[len(witnesses) // 2]
    alike = [one for one in witnesses if abs(one.width - width) <= _SLACK * width]
    inside = sum(one.inside for one in alike)
    enough = len(alike) >= _ENOUGH // 2 and 3 * inside >= len(witnesses)
    widest = (1 + 1.5 * _SLACK) * width  # the widths of some differ twice, by a font and by a long word
    return _Page((1 - _SLACK) * width, widest) if enough and len(alike) >= _MOST * len(witnesses) else None


def _is_itemised(breaks: Sequence[Break], page: _Page) -> bool:
    """Whether lines that had room end without a stop, and the next begin with a capital: list items without marks."""
    items = sum(one.capital and not (one.begins or one.stop or page.is_full(one)) for one in breaks)
    return items > _ITEMS * sum(one.goes_on for one in breaks)


def _is_joined(one: Break, page: _Page | None, *, itemised: bool) -> bool:
    """Whether a sentence may go on over the break."""
    if one.begins:
        return False
    if one.goes_on and one.lower and one.hanging and (one.inside or one.alone):
        return True
    if one.goes_on and (one.indented or (one.unfinished and (page or one.stop or not one.capital))):
        return True
    if page is None or not page.is_full(one):
        return False
    if one.unfinished or not one.capital or one.stop in FULL_STOPS:
        return True  # whether a full stop ends the sentence is decided where all stops are
    return one.stop != ":" and not itemised


_new = tuple.__new__  # what `Token(…)` comes down to, at half the time: corpora have millions of tokens


class Tokenizer(Protocol):
    """Finds the words of text[start:end]: in order, without overlap, covering all but whitespace and zero width."""

    def __call__(self, text: str, start: int, end: int) -> tuple[Token, ...]: ...


class RegexTokenizer:
    """Words are the matches of a pattern."""

    def __init__(self, pattern: str) -> None:
        self._finditer = re.compile(pattern).finditer

    def __call__(self, text: str, start: int, end: int) -> tuple[Token, ...]:
        return tuple([_new(Token, match.span()) for match in self._finditer(text, start, end)])


# What belongs to the letter before it: accents as characters of their own, soft hyphens, joiners.
_ON_LETTERS = r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u200c\u200d\u2060"

# Letters together, digits together, anything else by itself: the field's standard for CADEC and ShARe. Dividers and
# leaders, which it does not mention, are a word each: four or more times the same mark. What has no width is no word.
words = RegexTokenizer(rf"[^\W\d_](?:[^\W\d_]|[{_ON_LETTERS}])*|\d+|([^\w\s{ZERO_WIDTH}]|_)\1{{3,}}|[^\s{ZERO_WIDTH}]")
whitespace = RegexTokenizer(r"\S+")

TOKENIZERS: dict[str, Tokenizer] = {"words": words, "whitespace": whitespace}


def rules(text: str) -> list[tuple[int, int]]:
    """A sentence ends at the end of a unit of lines, and within one at a stop that is not an abbreviation's.

    >>> text = "Took 5 mg p.o. b.i.d. for Dr. Smith. No AS. No AR."
    >>> [text[start:end] for start, end in rules(text)]
    ['Took 5 mg p.o. b.i.d. for Dr. Smith.', 'No AS.', 'No AR.']
    """
    sentences = []
    for start, end in units(text):
        for stop in sentence_ends(text, start, end):
            sentences.append((start, stop))
            start = stop
            while text[start].isspace():
                start += 1
        sentences.append((start, end))
    return sentences


SplitterName = Literal["rules", "lines"]


class Splitter(Protocol):
    """Finds sentences [start, end): in order, without overlap, covering all but whitespace, none with it at an end.

    Whitespace is what `str.isspace` says, which is also what `\\s` and `str.strip` take for it.
    """

    def __call__(self, text: str) -> list[tuple[int, int]]: ...


_WRITTEN_LINE = re.compile(r"[^\r\n]+")


def lines(text: str) -> list[tuple[int, int]]:
    """A sentence is a line."""
    sentences = []
    for match in _WRITTEN_LINE.finditer(text):
        line = match.group()
        body = line.strip()
        if body:
            start = match.start() + len(line) - len(line.lstrip())
            sentences.append((start, start + len(body)))
    return sentences


# Prose, lists and wrapped lines; data with a sentence per line.
SPLITTERS: dict[str, Splitter] = {"rules": rules, "lines": lines}


def splitter_named(name: str) -> Splitter:
    """The splitter called `name`."""
    if name not in SPLITTERS:
        raise DisconerError(f"There is no sentence splitter {name!r}", expected=f"one of {', '.join(SPLITTERS)}")
    return SPLITTERS[name]


_set = object.__setattr__  # frozen dataclasses are filled through this


def ordered_sentence(start: int, end: int, tokens: tuple[Token, ...]) -> Sentence:
    """A sentence whose tokens are in order by construction: checking them takes longer than making it."""
    sentence = object.__new__(Sentence)
    _set(sentence, "start", start)
    _set(sentence, "end", end)
    _set(sentence, "tokens", tokens)
    _set(sentence, "heads", None)
    _set(sentence, "relations", None)
    return sentence


def segment(
    document: Document,
    splitter: Splitter = SPLITTERS["rules"],
    tokenizer: Tokenizer = TOKENIZERS["words"],
) -> Document:
    """A copy with sentences and tokens, or the document itself where it has them already."""
    if document.sentences is not None:
        return document
    text = document.text
    # Our own tokenizers need no check, which takes longer than they do.
    made = ordered_sentence if tokenizer in TOKENIZERS.values() else Sentence
    sentences = tuple(
        [made(start, end, tokens) for start, end in splitter(text) if (tokens := tokenizer(text, start, end))]
    )
    return document.replace(sentences=sentences)


def segmenter(splitter: SplitterName, tokenizer: str) -> Callable[[Document], Document]:
    """`segment`, with the splitter and the tokenizer of these names."""
    return partial(segment, splitter=splitter_named(splitter), tokenizer=TOKENIZERS[tokenizer])
