"""A document on a terminal: its text, under each line the entities in lanes, and at the end all of them in a list.

Pain and stiffness in my knees after aspirin.
━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄━━━━━ ADR  ━━━━━━━ Drug
         ━━━━━━━━━━━━━━━━━ ADR

ADR   discontinuous  Pain … knees           0–4, 25–30  0.93
ADR   overlapped     stiffness in my knees  9–30        0.88
Drug  regular        aspirin                37–44       0.99
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from disconer.core.types import Document, Entity, joined_text
from disconer.render.clusters import TAB_WIDTH, columns
from disconer.render.lines import Line, Piece, lines, pack, wrapped_lines

FRAGMENT, GAP = "━", "┄"
COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
FAINT = "bright_black"
MAX_LANES = 20  # under a line of text; what lies deeper is counted and listed
MAX_TEXT = 60  # columns of an entity's text in the list

# What would move the cursor, change colours, turn text around or not be written at all.
_TURNING = "\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_TURNING}]")
_PICTURES = 0x2400  # Unicode's pictures of the control characters begin here


class View:
    """Shows documents, each label in its colour.

    width: columns that text is wrapped to.
    labels: those that get the first colours; others follow as they come.
    """

    def __init__(self, *, width: int, labels: Sequence[str] = ()) -> None:
        self.width = width
        self._numbers = {label: number for number, label in enumerate(labels)}

    def __call__(self, document: Document, *, heading: str = "") -> Iterator[Text]:
        """The lines to print."""
        if heading:
            yield Text(_shown(heading), "bold")
        fragments = [entity.fragments for entity in document.entities]
        for line in lines(document.text, fragments, wrapped_lines(document.text, self.width)):
            yield Text(_shown(document.text[line.start : line.end]).rstrip())
            yield from self._lanes(document, line)
        yield Text()
        yield from self._list(document)

    def _colour(self, label: str) -> str:
        return COLOURS[self._numbers.setdefault(label, len(self._numbers)) % len(COLOURS)]

    def _lanes(self, document: Document, line: Line) -> Iterator[Text]:
        """What is drawn under a line of text."""
        places = columns(document.text[line.start : line.end])
        drawn = [_Mark(piece, document.entities[piece.number].label, places, line.start) for piece in line.pieces]
        lanes = pack([(mark.left, mark.right) for mark in drawn], MAX_LANES)
        for lane in range(max((lane for lane in lanes if lane is not None), default=-1) + 1):
            text, column = Text(), 0
            own = [mark for mark, its_lane in zip(drawn, lanes, strict=True) if its_lane == lane]
            for mark in sorted(own, key=lambda mark: mark.left):
                text.append(" " * (mark.left - column))
                text.append(mark.drawing, self._colour(mark.label))
                column = mark.right - 1
            yield text
        if hidden := lanes.count(None):
            yield Text(f"and {hidden} more", FAINT)

    def _list(self, document: Document) -> Iterator[Text]:
        """All entities, a line each."""
        rows = [_cells(entity, document.text) for entity in document.entities]
        if not rows:
            yield Text("no entities", FAINT)
        widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            padded = [cell + " " * (width - _width(cell) + 2) for cell, width in zip(row, widths, strict=True)]
            label, kind, surface, *rest = padded
            yield Text.assemble((label, self._colour(row[0])), (kind, FAINT), surface, ("".join(rest).rstrip(), FAINT))


class _Mark:
    """A piece of an entity as it is drawn, from column `left`, with the label behind it; `right` leaves a space."""

    def __init__(self, piece: Piece, label: str, places: Sequence[int], offset: int) -> None:
        self.label = _shown(label)
        self.left = places[piece.start - offset]
        end = max(places[piece.end - offset], self.left + 1)  # what has no width is marked all the same
        bars = [GAP] * (end - self.left)
        for fragment in piece.fragments:
            first, last = places[fragment.start - offset], places[fragment.end - offset]
            for column in range(first, max(last, first + 1)):
                bars[column - self.left] = FRAGMENT
        self.drawing = f"{''.join(bars)} {self.label}"
        self.right = end + 1 + _width(self.label) + 1


def _cells(entity: Entity, text: str) -> list[str]:
    """Label, kind, text, offsets and score of an entity."""
    surface = " … ".join(_shown(joined_text(text, [fragment])) for fragment in entity.fragments)
    offsets = ", ".join(f"{start}–{end}" for start, end in entity.fragments)
    score = "" if entity.score is None else f"{entity.score:.2f}"
    return [_shown(entity.label), str(entity.kind), _shortened(surface), offsets, score]


def _shown(text: str) -> str:
    """Text that takes as many columns as `columns` says and does nothing to the terminal."""
    return _CONTROL.sub(_stand_in, text).replace("\t", " " * TAB_WIDTH)


def _stand_in(match: re.Match[str]) -> str:
    character = match.group()
    if character < " ":
        return chr(_PICTURES + ord(character))
    return "\ufffd" if columns(character)[-1] else ""


def _width(text: str) -> int:
    return columns(text)[-1]


def _shortened(text: str) -> str:
    if _width(text) <= MAX_TEXT:
        return text
    places = columns(text)
    return text[: max(end for end in range(len(text)) if places[end] < MAX_TEXT)] + "…"
