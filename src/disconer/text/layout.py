"""Which line breaks end something, and which were made to fit a page: from lines to units of running text.

A blank line, a form feed or a paragraph separator always ends a unit, and so does a line break before a list item, a
section heading, a "Key: value" line or a row of a table. Any other single line break was either made on purpose
(criteria, forum posts: one statement a line) or to fit a width. No cue decides that alone. Lines broken to fit a width
are about as long as it, the first word of the next line had no room on them, and they end anywhere, within sentences
and after words that end none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from disconer.text.stops import NEVER_LAST, words

_LINE = re.compile(r"[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")  # ends of lines as `str.splitlines` has them
_SINGLE_BREAKS = frozenset(["\n", "\r\n", "\r", "\x85", "\u2028"])
_TAB = 8  # columns

_BULLET = re.compile(r"(?:[-*+•·▪▫‣◦●○■□✓➢→§]|o(?=\s+[A-Z])|[#>](?!\s*\d))\s|--\s")
_DASH = re.compile(r"[–—]\s")
_NUMBER = re.compile(r"[(\[]?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{1,4})[.)\]]\s")
_KEY = re.compile(r"[A-Z][\w/&()'-]*(?: [\w/&()'-]+){0,4}:(?:\s|$)")
_CAPITALS = re.compile(r"[A-Z][A-Z /&-]{3,39}:?$")
_CELLS = re.compile(r"\S(?:\t\s*|\s{3,}|\s+\|\s+)\S")  # between the columns of a table
_ENDS_WITHIN = re.compile(r"[a-z)%]{2}[.!?] ")
_OPENERS = "\"'“‘«([{"
_STOPS = tuple(".!?:;。！？")
_FULL_STOPS = tuple(".!?。！？")
_CLOSERS = "\"'”’»)]}"

_LAST_WORD = re.compile(r"(?<!\S)[\"'“‘«(\[{]*([A-Za-z.]+)\Z")
_REACH = 40  # characters: longer words are not looked at as a whole
# No sentence and no list item ends with these.
_UNFINISHED = words(
    "a an the of to in by for from with as than which who whose whom between during via into per upon",
    "his her its their my our your this these those was were been being",
)
# Few do with these, and few begin with those that follow, in lower case.
_RARELY_LAST = _UNFINISHED | words(
    "and or nor is are be has have had did at on no not any all each other such that but if when while because until",
    "without very still also I we he she they",
)
_RARELY_FIRST = words("of and or nor than is are was were be been has had which who whose to but by from into as the")

_NARROWEST, _WIDEST = 30, 160  # columns of what may be a page
_ENOUGH = 6  # lines that fit one width: fewer may do so by chance
_MOST, _FEW = 0.75, 0.1  # of lines: masked names and tables disturb the picture
_ITEMS = 0.3  # list items for each line that was broken to fit: a title is not a list
_LONG = 0.6  # of the longest line in its block
_PLAUSIBLE = 45  # columns: what a single line has to have to be taken for a full one
_SLACK = 0.2  # of the width: letters of different widths, and names masked after the lines were broken


class _Line(NamedTuple):
    start: int
    end: int
    column: int  # of its first character
    follows: bool  # a single line break parts it from the line before

    @property
    def width(self) -> int:
        return self.column + self.end - self.start


class _Break(NamedTuple):
    """What two lines that follow each other say about the break between them.

    width: of the line before.
    needed: the width it would have with the first word of the next line.
    begins: the next line begins something, or the line before is a heading.
    stop: the mark that the line before ends with, if it is one that ends sentences or begins lists.
    unfinished: it ends with a word that ends no sentence, or within brackets.
    inside: it seems to end within a sentence: its words say so, or another sentence has ended in it.
    capital: the next line begins with a capital.
    lower: it begins in lower case.
    indented: the line before is a long one of a list item, and the next begins further to the right than the item.
    hanging: the line before is the first of a list item, and the next stands right below its text.
    alone: the next is the last of its block, or what follows it is another list item.
    rounded: one begins with a capital, the other ends with a full stop, as if they were one sentence.
    """

    width: int
    needed: int
    begins: bool
    stop: str
    unfinished: bool
    inside: bool
    capital: bool
    lower: bool
    indented: bool
    hanging: bool
    alone: bool
    rounded: bool

    @property
    def goes_on(self) -> bool:
        """A sentence seems to go on in the next line: the witnesses for lines that were broken to fit."""
        return not self.begins and (
            self.unfinished or (not self.stop and (self.lower or (self.inside and not self.capital)))
        )


class _Page(NamedTuple):
    """The width that lines were broken to fit; none of them is wider than `most`."""

    width: float
    most: float

    def is_full(self, line_break: _Break) -> bool:
        return line_break.needed > self.width


def units(text: str) -> Iterator[tuple[int, int]]:
    """Stretches [start, end) of `text`, in order, covering all but whitespace and with none at either end."""
    blocks = list(_blocks(_lines(text)))
    breaks = [_breaks(text, block) for block in blocks]
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


def _lines(text: str) -> Iterator[_Line]:
    """Lines that are not blank, without the whitespace around them."""
    last_break = 0  # where the line break after the last line that was not blank begins
    for match in _LINE.finditer(text):
        line = match.group()
        body = line.lstrip()
        if body:
            start = match.end() - len(body)
            column = len(line[: len(line) - len(body)].expandtabs(_TAB))
            yield _Line(start, start + len(body.rstrip()), column, text[last_break : match.start()] in _SINGLE_BREAKS)
            last_break = match.end()


def _blocks(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    """Lines with single breaks between them."""
    number = 0

    def block_of(line: _Line) -> int:
        nonlocal number
        number += not line.follows
        return number

    for _, block in groupby(lines, block_of):
        yield list(block)


def _breaks(text: str, block: Sequence[_Line]) -> list[_Break]:
    found = []
    in_item, item_column = _is_item(text, block[0]), block[0].column
    long = max(_NARROWEST, _LONG * max(line.width for line in block))
    for line, following, later in zip(block, block[1:], [*block[2:], None], strict=False):
        one = _break(text, line, following, in_item=in_item)._replace(
            indented=in_item and following.column > item_column and line.width >= long,
            hanging=following.column == _item_text(text, line),
            alone=later is None or _is_item(text, later),
        )
        found.append(one)
        if one.begins or following.column <= item_column:
            in_item, item_column = _is_item(text, following), following.column
    return found


def _break(text: str, line: _Line, following: _Line, *, in_item: bool) -> _Break:
    """All but what other lines say."""
    ending = text[max(line.start, line.end - _REACH) : line.end]
    first = text[following.start : min(following.end, following.start + _REACH)].split(None, 1)[0]
    last = match.group(1) if (match := _LAST_WORD.search(ending)) else ""
    letter, mark = first.lstrip(_OPENERS)[:1], ending.rstrip(_CLOSERS)[-1:]
    stop = mark if mark in _STOPS else ""
    needed = line.width + 1 + len(first)
    capital, lower = letter.isupper(), letter.islower()
    if ending.isupper() and first.isupper():  # all in capitals: they tell nothing
        first, last, capital = first.lower(), last.lower(), False
    unfinished = (
        last in _UNFINISHED
        or (last.endswith(".") and last[:-1].lower() in NEVER_LAST)
        or (not stop and _is_bracket_open(text, line, following))
    )
    return _Break(
        width=line.width,
        needed=needed,
        begins=_begins_unit(text, line, following, in_item=in_item, unfinished=unfinished),
        stop=stop,
        unfinished=unfinished,
        inside=unfinished or last in _RARELY_LAST or first in _RARELY_FIRST or _is_run_on(text, line),
        capital=capital,
        lower=lower,
        indented=False,
        hanging=False,
        alone=False,
        rounded=text[line.start].isupper() and text[following.end - 1] == ".",
    )


def _is_bracket_open(text: str, line: _Line, following: _Line) -> bool:
    """Whether a bracket opens in a line and closes in the next."""
    if text.rfind("(", line.start, line.end) <= text.rfind(")", line.start, line.end):
        return False
    closing = text.find(")", following.start, following.end)
    return closing >= 0 and text.find("(", following.start, closing) < 0


def _is_run_on(text: str, line: _Line) -> bool:
    """Whether sentences, or things with commas between them, fill a line without an end."""
    if text[line.end - 1] == ",":
        return text.find(", ", line.start, line.end) >= 0
    return _ENDS_WITHIN.search(text, line.start, line.end) is not None


def _is_item(text: str, line: _Line) -> bool:
    return _item_text(text, line) is not None


def _item_text(text: str, line: _Line) -> int | None:
    """The column at which the text of a list item begins; None if the line begins none."""
    mark = _BULLET.match(text, line.start, line.end) or _NUMBER.match(text, line.start, line.end)
    if mark is None:
        return None
    blanks = len(text[mark.end() : line.end]) - len(text[mark.end() : line.end].lstrip())
    return line.column + mark.end() - line.start + blanks


def _begins_unit(text: str, line: _Line, following: _Line, *, in_item: bool, unfinished: bool) -> bool:
    """Whether a line begins something new whatever the width: a list item, a section, a row of a table.

    A number in front counts where a list goes on or a sentence has ended: "hepatitis / B. The" breaks anywhere.
    """
    before, after = (line.start, line.end), (following.start, following.end)
    if _NUMBER.match(text, *after):
        return in_item or text[line.end - 1] in _STOPS
    if _BULLET.match(text, *after) or _CELLS.search(text, *before) or _CELLS.search(text, *after):
        return True
    if _DASH.match(text, *after):
        return in_item or _DASH.match(text, *before) is not None
    if unfinished:
        return False
    return any(map(bool, (_KEY.match(text, *after), _CAPITALS.match(text, *after), _CAPITALS.match(text, *before))))


def _page(breaks: Sequence[_Break], lines: Sequence[_Line]) -> _Page | None:
    """The width that lines were broken to fit; None if it seems that they were not."""
    witnesses = [one for one in breaks if one.goes_on]
    if not witnesses:
        return None
    for page in (_exact(witnesses, share=1 - _FEW), _about(witnesses), _exact(witnesses, share=_MOST)):
        if page and _NARROWEST <= page.width <= _WIDEST:
            too_wide = sum(line.width > page.most for line in lines)
            if too_wide <= _FEW * len(lines):
                return page
    return None


def _exact(witnesses: Sequence[_Break], *, share: float) -> _Page | None:
    """A width that the lines keep and that the next word would have exceeded, as programs break lines.

    Each line tells a range of widths; the page is where most ranges meet, at least this share of them.
    """
    ends = sorted([(one.width, 1) for one in witnesses] + [(one.needed, -1) for one in witnesses])
    deepest = depth = width = most = 0
    for place, (at, change) in enumerate(ends):
        depth += change
        if depth > deepest:
            deepest, width, most = depth, at, ends[place + 1][0]
    fitting = [one for one in witnesses if one.width <= width < one.needed]
    rounded = width >= _PLAUSIBLE and any(one.rounded for one in fitting)
    enough = deepest >= _ENOUGH or rounded or any(one.inside for one in fitting)
    return _Page(width, most) if enough and deepest >= share * len(witnesses) else None


def _about(witnesses: Sequence[_Break]) -> _Page | None:
    """A width that the lines have more or less, if enough of them end within a sentence."""
    width = sorted(one.width for one in witnesses)[len(witnesses) // 2]
    alike = [one for one in witnesses if abs(one.width - width) <= _SLACK * width]
    inside = sum(one.inside for one in alike)
    enough = len(alike) >= _ENOUGH // 2 and 3 * inside >= len(witnesses)
    widest = (1 + 1.5 * _SLACK) * width  # the widths of some differ twice, by a font and by a long word
    return _Page((1 - _SLACK) * width, widest) if enough and len(alike) >= _MOST * len(witnesses) else None


def _is_itemised(breaks: Sequence[_Break], page: _Page) -> bool:
    """Whether lines that had room end without a stop, and the next begin with a capital: list items without marks."""
    items = sum(one.capital and not (one.begins or one.stop or page.is_full(one)) for one in breaks)
    return items > _ITEMS * sum(one.goes_on for one in breaks)


def _is_joined(one: _Break, page: _Page | None, *, itemised: bool) -> bool:
    """Whether a sentence may go on over the break."""
    if one.begins:
        return False
    if one.goes_on and one.lower and one.hanging and (one.inside or one.alone):
        return True
    if one.goes_on and (one.indented or (one.unfinished and (page or one.stop or not one.capital))):
        return True
    if page is None or not page.is_full(one):
        return False
    if one.unfinished or not one.capital or one.stop in _FULL_STOPS:
        return True  # whether a full stop ends the sentence is decided where all stops are
    return one.stop != ":" and not itemised
