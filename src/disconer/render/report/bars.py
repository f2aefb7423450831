"""Bar charts as SVG, in the colours of the page: groups of bars with deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from disconer.render.stylesheet import N_COLOURS, themes

HEIGHT, BOTTOM, TOP, LEFT = 210, 24, 8, 34
BAR, SPACE = 15, 22  # the width of a bar, and of the space between groups
TICKS = (0, 20, 40, 60, 80, 100)
LETTER = 6.5  # the width of a letter, about
TITLE, KEY, KEY_HEIGHT = 22, 18, 18  # of a picture: the room above it, of a key in the legend, and of a line of keys

_STYLE = (
    "text { fill: var(--faint); font: 11px sans-serif; } .name { font-size: 13px; } .grid { stroke: var(--line); }"
    " rect { fill: var(--c); } .deviation { stroke: var(--ink); stroke-width: 1.5; }"
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A height in per cent, and how far it deviates; None: no bar."""

    height: float | None
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class BarSeries:
    """The bars of one colour, one for each group."""

    name: str
    bars: Sequence[Bar]


def bar_chart(title: str, groups: Sequence[str], series: Sequence[BarSeries]) -> str:
    """A figure with a legend, for a page. Heights are per cent, on an axis from 0 to 100."""
    width, shapes = _drawn(groups, series)
    names = ", ".join(one.name for one in series)
    label = escape(f"{title}: {', '.join(groups)}, of {names}")
    size = f'viewBox="0 0 {width:g} {HEIGHT}" style="width: {width:g}px; max-width: 100%"'
    drawn = f'<svg {size} role="img" aria-label="{label}">\n{shapes}\n</svg>'
    return f'<figure class="bars"><figcaption>{escape(title)}</figcaption>\n{drawn}\n{_legend(series)}</figure>'


def bar_picture(title: str, groups: Sequence[str], series: Sequence[BarSeries]) -> str:
    """The same as an SVG of its own, light or dark as its reader's screen."""
    width, shapes = _drawn(groups, series)
    keys = list(_drawn_legend(series, width))
    height = TITLE + HEIGHT + KEY_HEIGHT * (1 + max(line for line, _ in keys))
    legend = "\n".join(key for _, key in keys)
    size = f'viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n'
        f"<title>{escape(title)}</title>\n<style>{themes('svg')}{_STYLE}</style>\n"
        f'<text class="name" x="{LEFT}" y="14">{escape(title)}</text>\n'
        f'<g transform="translate(0 {TITLE})">\n{shapes}\n{legend}\n</g>\n</svg>\n'
    )


def _drawn(groups: Sequence[str], series: Sequence[BarSeries]) -> tuple[float, str]:
    """The width of a chart, and its shapes."""
    room = max(BAR * len(series), LETTER * max(map(len, groups))) + SPACE
    width = LEFT + room * len(groups)
    return width, "\n".join([*_axis(width), *_bars(groups, series, room)])


def _axis(width: float) -> Iterator[str]:
    for tick in TICKS:
        yield f'<path class="grid" d="M{LEFT} {_y(tick):.1f}H{width:g}"/>'
        yield f'<text class="tick" x="{LEFT - 6}" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick}</text>'


def _bars(groups: Sequence[str], series: Sequence[BarSeries], room: float) -> Iterator[str]:
    for number, group in enumerate(groups):
        middle = LEFT + room * (number + 0.5)
        yield f'<text class="tick" x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(group)}</text>'
        left = middle - BAR * len(series) / 2
        for place, one in enumerate(series):
            if one.bars[number].height is not None:
                yield _bar(f"{one.name}, {group}", one.bars[number], left + BAR * place, place)


def _bar(name: str, bar: Bar, x: float, number: int) -> str:
    height = bar.height or 0.0
    spread = "" if bar.deviation is None else f" ± {bar.deviation:.1f}"
    shapes = f'<rect x="{x + 1:.1f}" y="{_y(height):.1f}" width="{BAR - 2}" height="{_y(0) - _y(height):.1f}"/>'
    if bar.deviation:
        low, high = _y(max(0.0, height - bar.deviation)), _y(min(100.0, height + bar.deviation))
        shapes += f'<path class="deviation" d="M{x + BAR / 2:.1f} {low:.1f}V{high:.1f}"/>'
    note = f"<title>{escape(name)}: {height:.1f}{spread}</title>"
    return f'<g style="{_colour(number)}">{shapes}{note}</g>'


def _legend(series: Sequence[BarSeries]) -> str:
    keys = "".join(
        f'<li style="{_colour(number)}"><svg class="key" viewBox="0 0 12 12" aria-hidden="true">'
        f'<rect width="12" height="12"/></svg>{escape(one.name)}</li>'
        for number, one in enumerate(series)
    )
    return f'<ul class="legend">{keys}</ul>\n'


def _colour(number: int) -> str:
    """The style of a series. Once all colours are taken, they come again, paler."""
    paler = "; opacity: 0.5" if number // N_COLOURS % 2 else ""
    return f"--c: var(--c{number % N_COLOURS}){paler}"


def _drawn_legend(series: Sequence[BarSeries], width: float) -> Iterator[tuple[int, str]]:
    """The keys below a chart, each with its line number."""
    line, x = 0, float(LEFT)
    for number, one in enumerate(series):
        room = KEY + LETTER * len(one.name) + SPACE
        if x > LEFT and x + room > width:
            line, x = line + 1, float(LEFT)
        y = HEIGHT + KEY_HEIGHT * line
        key = f'<rect x="{x:.1f}" y="{y}" width="12" height="12" style="{_colour(number)}"/>'
        yield line, f'{key}<text x="{x + KEY:.1f}" y="{y + 10}">{escape(one.name)}</text>'
        x += room


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value / 100 * (HEIGHT - BOTTOM - TOP)
