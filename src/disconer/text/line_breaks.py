"""What two lines say about the break between them: list items, headings, words that end or begin no sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from disconer.text.stops import NEVER_LAST, words

_BULLET = re.compile(r"(?:[-*+•·▪▫‣◦●○■□✓➢→§]|o(?=\s+[A-Z])|[#>](?!\s*\d))\s|--\s")
_DASH = re.compile(r"[–—]\s")
_NUMBER = re.compile(r"[(\[]?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{1,4})[.)\]]\s")
_KEY = re.compile(r"[A-Z][\w/&()'-]*(?: [\w/&()'-]+){0,4}:(?:\s|$)")
_CAPITALS = re.compile(r"[A-Z][A-Z /&-]{3,39}:?$")
_CELLS = re.compile(r"\S(?:\t\s*|\s{3,}|\s+\|\s+)\S")  # between the columns of a table
_PARTING = re.compile(r"[\s|](?:(?<=[\t|])|\s)")  # a tab, a bar or two blanks: any two columns have one between
_ENDS_WITHIN = re.compile(r"[a-z)%]{2}[.!?] ")
_OPENERS = "\"'“‘«([{"
_STOPS = tuple(".!?:;。！？")
FULL_STOPS = tuple(".!?。！？")
_CLOSERS = "\"'”’»)]}"

_REACH = 40  # characters; of longer words, only a part is inspected
# No sentence and no list item ends with these.
_UNFINISHED = words(
    "a an the of to in by for from with as than which who whose whom between during via into per upon",
    "his her its their my our your this these those was were been being",
)
# Few end with these, and few begin with `_RARELY_FIRST` in lower case.
_RARELY_LAST = _UNFINISHED | words(
    "and or nor is are be has have had did at on no not any all each other such that but if when while because until",
    "without very still also I we he she they",
)
_RARELY_FIRST = words("of and or nor than is are was were be been has had which who whose to but by from into as the")

NARROWEST = 30  # columns of a line that may be a full one
_LONG = 0.6  # of the longest line in its block


class Line(NamedTuple):
    start: int
    end: int
    column: int  # of its first character
    follows: bool  # a single line break separates it from the line before

    @property
    def width(self) -> int:
        return self.column + self.end - self.start


class Break(NamedTuple):
    """What two lines that follow each other say about the break between them.

    width: of the line before.
    needed: the width it would have with the first word of the next line.
    begins: the next line begins something, or the line before is a heading.
    stop: the mark that the line before ends with, if it is one that ends sentences or begins lists.
    unfinished: it ends with a word that ends no sentence, or within brackets.
    inside: it seems to end within a sentence: its words say so, or another sentence has ended in it. Only of a line
        that is unfinished, or that has no stop where the next has no capital: else it does not matter.
    capital: the next line begins with a capital.
    lower: it begins in lower case.
    indented: the line before is a long one of a list item, and the next begins further to the right than the item.
    hanging: the line before is the first of a list item, and the next stands right below its text.
    alone: the next is the last of its block, or what follows it is another list item.
    rounded: the lines around it that go on begin with a capital and end with a full stop, as if they were one sentence.
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
        """A sentence seems to go on in the next line: evidence that lines were broken to fit."""
        return not self.begins and (
            self.unfinished or (not self.stop and (self.lower or (self.inside and not self.capital)))
        )


def line_breaks(text: str, block: Sequence[Line]) -> list[Break]:
    """What the lines of a block say about the breaks between them."""
    found = []
    items = [_item_text(text, line) for line in block]
    rows = [_is_row(text, line) for line in block]
    in_item, item_column = items[0] is not None, block[0].column
    long = max(NARROWEST, _LONG * max(line.width for line in block))
    for number, (line, following) in enumerate(pairwise(block)):
        one = _break(
            text,
            line,
            following,
            in_item=in_item,
            in_table=rows[number] or rows[number + 1],
            indented=in_item and following.column > item_column and line.width >= long,
            hanging=following.column == items[number],
            alone=number + 2 == len(block) or items[number + 2] is not None,
        )
        found.append(one)
        if one.begins or following.column <= item_column:
            in_item, item_column = items[number + 1] is not None, following.column
    return list(_with_rounded(text, block, found))


def _with_rounded(text: str, block: Sequence[Line], breaks: Sequence[Break]) -> Iterator[Break]:
    """The breaks of a block with `rounded` set, which depends on runs of lines that seem to go on."""
    for goes_on, numbered in groupby(enumerate(breaks), lambda item: item[1].goes_on):
        own = list(numbered)
        first, last = block[own[0][0]], block[own[-1][0] + 1]
        rounded = goes_on and text[first.start].isupper() and text[last.end - 1] == "."
        yield from (one._replace(rounded=True) if rounded else one for _, one in own)


def _break(
    text: str,
    line: Line,
    following: Line,
    *,
    in_item: bool,
    in_table: bool,
    indented: bool,
    hanging: bool,
    alone: bool,
) -> Break:
    """All but `rounded`. in_table: one of the lines is a row of a table."""
    ending = text[max(line.start, line.end - _REACH) : line.end]
    first = text[following.start : min(following.end, following.start + _REACH)].split(None, 1)[0]
    last = ending.rsplit(None, 1)[-1].lstrip(_OPENERS)
    letter, mark = first.lstrip(_OPENERS)[:1], ending.rstrip(_CLOSERS)[-1:]
    stop = mark if mark in _STOPS else ""
    width, needed = line.width, line.width + 1 + len(first)
    capital, lower = letter.isupper(), letter.islower()
    if ending.isupper() and first.isupper():  # all in capitals, which say nothing here
        first, last, capital = first.lower(), last.lower(), False
    unfinished = (
        last in _UNFINISHED
        or (last[-1:] == "." and last[:-1].lower() in NEVER_LAST)
        or (not stop and _is_bracket_open(text, line, following))
    )
    begins = _begins_unit(text, line, following, in_item=in_item, in_table=in_table, unfinished=unfinished)
    inside = unfinished
    if not inside and not stop and not capital:  # else a sentence does not go on, whatever this is
        inside = last in _RARELY_LAST or first in _RARELY_FIRST or _is_run_on(text, line)
    return Break(width, needed, begins, stop, unfinished, inside, capital, lower, indented, hanging, alone, False)


def _is_bracket_open(text: str, line: Line, following: Line) -> bool:
    """Whether a bracket opens in a line and closes in the next."""
    if text.rfind("(", line.start, line.end) <= text.rfind(")", line.start, line.end):
        return False
    closing = text.find(")", following.start, following.end)
    return closing >= 0 and text.find("(", following.start, closing) < 0


def _is_run_on(text: str, line: Line) -> bool:
    """Whether sentences, or things with commas between them, fill a line without an end."""
    if text[line.end - 1] == ",":
        return text.find(", ", line.start, line.end) >= 0
    body = text[line.start : line.end]
    return (". " in body or "? " in body or "! " in body) and _ENDS_WITHIN.search(body) is not None


def _is_row(text: str, line: Line) -> bool:
    """Whether a line has columns. Most lines have nothing that could separate any."""
    if _PARTING.search(text, line.start, line.end) is None:
        return False
    return _CELLS.search(text, line.start, line.end) is not None


def _item_text(text: str, line: Line) -> int | None:
    """The column at which the text of a list item begins; None if the line begins none."""
    mark = _BULLET.match(text, line.start, line.end) or _NUMBER.match(text, line.start, line.end)
    if mark is None:
        return None
    blanks = len(text[mark.end() : line.end]) - len(text[mark.end() : line.end].lstrip())
    return line.column + mark.end() - line.start + blanks


def _begins_unit(text: str, line: Line, following: Line, *, in_item: bool, in_table: bool, unfinished: bool) -> bool:
    """Whether a line begins something new whatever the width: a list item, a section, a row of a table.

    A number in front counts where a list goes on or a sentence has ended: "hepatitis / B. The" breaks anywhere.
    """
    before, after = (line.start, line.end), (following.start, following.end)
    if _NUMBER.match(text, *after):
        return in_item or text[line.end - 1] in _STOPS
    if in_table or _BULLET.match(text, *after):
        return True
    if _DASH.match(text, *after):
        return in_item or _DASH.match(text, *before) is not None
    if unfinished:
        return False
    if _CAPITALS.match(text, *after) or _CAPITALS.match(text, *before):
        return True
    return text.find(":", *after) >= 0 and _KEY.match(text, *after) is not None
