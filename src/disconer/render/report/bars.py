"""Bar charts as inline SVG, in the colours of the page: groups of bars with deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from disconer.render.stylesheet import N_COLOURS

HEIGHT, BOTTOM, TOP, LEFT = 210, 24, 8, 34
BAR, SPACE = 15, 22  # the width of a bar, and of the space between groups
TICKS = (0, 20, 40, 60, 80, 100)
LETTER = 6.5  # the width of a letter, about


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
    """A figure with a legend. Heights are per cent, on an axis from 0 to 100."""
    room = max(BAR * len(series), LETTER * max(map(len, groups))) + SPACE
    width = LEFT + room * len(groups)
    shapes = [*_axis(width), *_bars(groups, series, room)]
    names = ", ".join(one.name for one in series)
    label = escape(f"{title}: {', '.join(groups)}, of {names}")
    size = f'viewBox="0 0 {width:g} {HEIGHT}" style="width: {width:g}px; max-width: 100%"'
    drawn = f'<svg {size} role="img" aria-label="{label}">\n{chr(10).join(shapes)}\n</svg>'
    return f'<figure class="bars"><figcaption>{escape(title)}</figcaption>\n{drawn}\n{_legend(series)}</figure>'


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
    return f'<g style="--c: var(--c{number % N_COLOURS})">{shapes}{note}</g>'


def _legend(series: Sequence[BarSeries]) -> str:
    keys = "".join(
        f'<li style="--c: var(--c{number % N_COLOURS})"><svg class="key" viewBox="0 0 12 12" aria-hidden="true">'
        f'<rect width="12" height="12"/></svg>{escape(one.name)}</li>'
        for number, one in enumerate(series)
    )
    return f'<ul class="legend">{keys}</ul>\n'


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value / 100 * (HEIGHT - BOTTOM - TOP)
