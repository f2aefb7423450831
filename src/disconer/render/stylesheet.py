"""The styles that pictures need: colours for light and dark paper, and the depths of lanes."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from disconer.render.lines import MAX_LANES
from disconer.render.palette import DARK, LIGHT, N_COLOURS, THEMES, Theme

# Notebooks have themes of their own, whatever the system prefers.
_LIGHT_NOTEBOOKS = '[data-jp-theme-light="true"] .disconer, .vscode-light .disconer'
_DARK_NOTEBOOKS = '[data-jp-theme-light="false"] .disconer, .vscode-dark .disconer'


@cache
def resource(name: str) -> str:
    """A file that comes with this package."""
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
    """The colours as variables. "auto": dark where the reader prefers that, but light on paper."""
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
    """a: from the text down to a lane; b: from one lane to another; r: from a lane back to the text."""
    return (
        f".disconer .a{lane} {{ vertical-align: calc(var(--first) * -1 - var(--pitch) * {lane}); }}\n"
        f".disconer .b{lane} {{ vertical-align: calc(var(--pitch) * -{lane}); }}\n"
        f".disconer .r{lane} {{ vertical-align: calc(var(--first) + var(--pitch) * {lane}); }}\n"
    )
