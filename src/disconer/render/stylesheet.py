"""The colours and styles of drawings, for light and dark themes, and escaping of text.

Each colour has a contrast of at least 4.5 with its background, and any two of one theme differ by at least 14 (CIE
1976) as seen with protanopia, deuteranopia and tritanopia; a test computes both. Every mark also has its label, so
colours may repeat if there are more labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape as _escape
from importlib.resources import files

from disconer.render.lines import MAX_LANES


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
    """Assigns a colour number to each label: in the order of `labels`, then in order of appearance."""

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for label in labels:
            self.number(label)

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers)) % N_COLOURS


# Notebooks have their own themes, independent of the system's.
_LIGHT_NOTEBOOKS = '[data-jp-theme-light="true"] .disconer, .vscode-light .disconer'
_DARK_NOTEBOOKS = '[data-jp-theme-light="false"] .disconer, .vscode-dark .disconer'


@cache
def resource(name: str) -> str:
    """A file of this package."""
    return files("disconer.render").joinpath(name).read_text("utf-8")


def stylesheet(theme: str = "auto") -> str:
    """All rules for the HTML of marked text; they touch nothing outside `.disconer`."""
    notebooks = f"{_LIGHT_NOTEBOOKS} {{ {_variables(LIGHT)} }}\n{_DARK_NOTEBOOKS} {{ {_variables(DARK)} }}\n"
    return (
        themes(".disconer", theme)
        + (notebooks if theme == "auto" else "")
        + resource("style.css")
        + "".join(f".disconer .c{number} {{ --c: var(--c{number}); }}\n" for number in range(N_COLOURS))
        + "".join(map(_depths, range(MAX_LANES)))
    )


def themes(selector: str, theme: str = "auto") -> str:
    """The colours as variables. "auto": dark if the reader prefers it, but light in print."""
    if theme != "auto":
        return f"{selector} {{ color-scheme: {theme}; {_variables(THEMES[theme])} }}\n"
    return (
        f"{selector} {{ color-scheme: light dark; {_variables(LIGHT)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ {selector} {{ {_variables(DARK)} }} }}\n"
    )


def _variables(theme: Theme) -> str:
    named = {
        "paper": theme.paper,
        "ink": theme.ink,
        "faint": theme.faint,
        "line": theme.line,
        "right": theme.right,
        "missed": theme.missed,
        "wrong": theme.wrong,
        **{f"c{number}": colour for number, colour in enumerate(theme.marks)},
    }
    return " ".join(f"--{name}: {value};" for name, value in named.items())


def _depths(lane: int) -> str:
    """Vertical offsets. a: from the text down to a lane; b: from lane to lane; r: from a lane back to the text."""
    return (
        f".disconer .a{lane} {{ vertical-align: calc(var(--first) * -1 - var(--pitch) * {lane}); }}\n"
        f".disconer .b{lane} {{ vertical-align: calc(var(--pitch) * -{lane}); }}\n"
        f".disconer .r{lane} {{ vertical-align: calc(var(--first) + var(--pitch) * {lane}); }}\n"
    )


# Errors in HTML and forbidden in XML: control characters, lone surrogates, noncharacters.
_UNFIT = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_PICTURES = 0x2400  # Unicode's pictures of the control characters begin here
_DELETE = "\x7f"


def escaped(text: str) -> str:
    """Safe as content and in a quoted attribute; control characters are replaced by their symbols, others by U+FFFD.

    >>> escaped("<b>&\\x01")
    '&lt;b&gt;&amp;␁'
    """
    return _escape(_UNFIT.sub(_stand_in, text))


def _stand_in(match: re.Match[str]) -> str:
    character = match.group()
    if character == _DELETE:
        return "␡"
    return chr(_PICTURES + ord(character)) if character < " " else "\ufffd"
