"""A plot as a file of its own, in the colours of light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from disconer.render.report.plots import BOTTOM, DASHES, HEIGHT, RIGHT, WIDTH, Axis, Series, drawing
from disconer.render.stylesheet import themes

KEY, KEY_HEIGHT, LETTER = 24, 16, 6.5  # the length of a line in the legend, the room of one, and of a letter

_STYLE = (
    "text { fill: var(--faint); font: 11px sans-serif; }"
    " .name { font-size: 12px; text-anchor: middle; } .grid { stroke: var(--line); }"
    " .series { stroke: var(--c); stroke-width: 2; stroke-dasharray: var(--dash, none); fill: none; }"
    " circle { fill: var(--c); }"
)


def picture(title: str, x: Axis, y: Axis, series: Sequence[Series]) -> str:
    """The SVG. Several series are named in the lower right corner."""
    opening, shapes = drawing(title, x, y, series).split("\n", 1)
    opening = opening.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    legend = "\n".join(_legend(series)) if len(series) > 1 else ""
    shapes = shapes.replace("</svg>", f"{legend}\n</svg>") if legend else shapes
    return f"{opening}\n<title>{escape(title)}</title>\n<style>{themes('svg')}{_STYLE}</style>\n{shapes}\n"


def _legend(series: Sequence[Series]) -> Iterator[str]:
    left = WIDTH - RIGHT - 8 - KEY - LETTER * max(len(one.name) for one in series)
    for number, one in enumerate(series):
        y = HEIGHT - BOTTOM - 10 - KEY_HEIGHT * (len(series) - 1 - number)
        style = f'style="--c: var(--c{number}); --dash: {DASHES[number % len(DASHES)]}"'
        yield f'<path class="series" {style} d="M{left:.1f} {y}h{KEY}"/>'
        yield f'<text x="{left + KEY + 6:.1f}" y="{y + 4}">{escape(one.name)}</text>'
