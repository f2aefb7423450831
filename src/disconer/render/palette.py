"""Colours that stay apart for every kind of colour vision, on light and on dark paper.

Each has a contrast of at least 4.5 with its paper, and any two of one paper differ by at least 14 (CIE 1976) as
seen with protanopia, deuteranopia and tritanopia; a test computes both. Labels are written beside every mark all
the same, so colours may repeat where there are more labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture: `marks` are those of labels; `right`, `missed` and `wrong` those of a comparison."""

    paper: str
    ink: str
    faint: str
    line: str
    marks: tuple[str, ...]

    @property
    def right(self) -> str:
        return self.faint

    @property
    def missed(self) -> str:
        return self.marks[0]

    @property
    def wrong(self) -> str:
        return self.marks[1]


LIGHT = Theme(
    paper="#ffffff",
    ink="#1b1f24",
    faint="#5d6672",
    line="#d5dae0",
    marks=("#1375cd", "#982e00", "#02835e", "#851f74", "#956f01", "#5a4ed5", "#5d788c", "#6e220a"),
)
DARK = Theme(
    paper="#14171b",
    ink="#e6e9ed",
    faint="#9aa4b0",
    line="#343b44",
    marks=("#088bf2", "#fe8f4d", "#3dca9c", "#ee86d2", "#ead64d", "#be9bfe", "#a9e7f3", "#ca8c6f"),
)
THEMES = {"light": LIGHT, "dark": DARK}
N_COLOURS = len(LIGHT.marks)


class Palette:
    """Gives each label the number of a colour: in the order of `labels`, then as they come."""

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for label in labels:
            self.number(label)

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers)) % N_COLOURS
