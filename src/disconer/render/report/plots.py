"""Small line plots as inline SVG, in the colours of the page, or as separate files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import log10

from disconer.render.stylesheet import N_COLOURS, themes

WIDTH, HEIGHT = 380, 270
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 40  # around the field of the plot
DASHES = ("none", "7 4", "2 4")  # lines differ not only in colour
DOT = 3.5


@dataclass(frozen=True, slots=True)
class Axis:
    """Name, range and ticks of an axis. log: logarithmic."""

    name: str
    low: float
    high: float
    ticks: Sequence[float]
    log: bool = False

    def place(self, value: float, start: float, end: float) -> float:
        low, high, value = map(log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return start + (value - low) / (high - low) * (end - start) if high > low else start


@dataclass(frozen=True, slots=True)
class Dot:
    """A point with a tooltip."""

    x: float
    y: float
    note: str


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: Sequence[tuple[float, float]]
    dots: Sequence[Dot] = ()


def plot(title: str, x: Axis, y: Axis, series: Sequence[Series], *, diagonal: bool = False) -> str:
    """A figure. diagonal: also draw the diagonal, for comparison."""
    drawn = drawing(title, x, y, series, diagonal=diagonal)
    return f'<figure class="plot"><figcaption>{escape(title)}</figcaption>\n{drawn}\n{_legend(series)}</figure>'


def drawing(title: str, x: Axis, y: Axis, series: Sequence[Series], *, diagonal: bool = False) -> str:
    """The plot alone, as SVG."""
    shapes = [*_grid(x, y)]
    if diagonal:
        shapes.append(f'<path class="even" d="{_path(((x.low, y.low), (x.high, y.high)), x, y)}"/>')
    for number, one in enumerate(series):
        shapes.append(
            f'<g {line_style(number)}><path class="series" d="{_path(one.points, x, y)}"/>{_dots(one, x, y)}</g>'
        )
    names = ", ".join(one.name for one in series)
    label = escape(f"{title}: {y.name} by {x.name}, of {names}")
    lines = "\n".join(shapes)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n{lines}\n</svg>'


def _grid(x: Axis, y: Axis) -> list[str]:
    bottom, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
    shapes = []
    for tick in x.ticks:
        place = _x(x, tick)
        shapes.append(f'<path class="grid" d="M{place:.1f} {TOP}V{bottom}"/>')
        shapes.append(f'<text class="tick" x="{place:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:,g}</text>')
    for tick in y.ticks:
        place = _y(y, tick)
        shapes.append(f'<path class="grid" d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}"/>')
        shapes.append(f'<text class="tick" x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{tick:,g}</text>')
    shapes.append(f'<text class="name" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}">{escape(x.name)}</text>')
    shapes.append(f'<text class="name" transform="translate(12 {middle}) rotate(-90)">{escape(y.name)}</text>')
    return shapes


def _path(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> str:
    return "M" + "L".join(f"{_x(x, one):.1f} {_y(y, other):.1f}" for one, other in points) if points else ""


def _dots(series: Series, x: Axis, y: Axis) -> str:
    return "".join(
        f'<circle cx="{_x(x, dot.x):.1f}" cy="{_y(y, dot.y):.1f}" r="{DOT}"><title>{escape(dot.note)}</title></circle>'
        for dot in series.dots
    )


def line_style(number: int) -> str:
    """The colour and the dashes of a series."""
    return f'style="--c: var(--c{number % N_COLOURS}); --dash: {DASHES[number % len(DASHES)]}"'


def _legend(series: Sequence[Series]) -> str:
    if len(series) < 2:
        return ""
    keys = "".join(
        f"<li {line_style(number)}>"
        f'<svg class="key" viewBox="0 0 28 6" aria-hidden="true"><path class="series" d="M0 3H28"/></svg>'
        f"{escape(one.name)}</li>"
        for number, one in enumerate(series)
    )
    return f'<ul class="legend">{keys}</ul>\n'


def _x(axis: Axis, value: float) -> float:
    return axis.place(value, LEFT, WIDTH - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return axis.place(value, HEIGHT - BOTTOM, TOP)


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
    legend = "\n".join(_drawn_legend(series)) if len(series) > 1 else ""
    shapes = shapes.replace("</svg>", f"{legend}\n</svg>") if legend else shapes
    return f"{opening}\n<title>{escape(title)}</title>\n<style>{themes('svg')}{_STYLE}</style>\n{shapes}\n"


def _drawn_legend(series: Sequence[Series]) -> Iterator[str]:
    left = WIDTH - RIGHT - 8 - KEY - LETTER * max(len(one.name) for one in series)
    for number, one in enumerate(series):
        y = HEIGHT - BOTTOM - 10 - KEY_HEIGHT * (len(series) - 1 - number)
        yield f'<path class="series" {line_style(number)} d="M{left:.1f} {y}h{KEY}"/>'
        yield f'<text x="{left + KEY + 6:.1f}" y="{y + 4}">{escape(one.name)}</text>'
