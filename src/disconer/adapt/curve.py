"""The loss curve of an adaptation, as a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from disconer.render.escape import escaped
from disconer.render.report.plots import Axis, Series, plot
from disconer.render.stylesheet import themes

N_TICKS = 5
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>disconer: adaptation</title>
<style>
{style}</style>
</head>
<body>
<h1>Adaptation</h1>
<p class="facts">{facts}</p>
<div class="plots">
{plots}
</div>
</body>
</html>
"""


def curve_page(history: Sequence[Mapping[str, Any]], facts: Mapping[str, str]) -> str:
    """A page with the loss and the learning rate by step.

    history: records with step, loss and rate, as in metrics.jsonl.
    facts: what was adapted to what, and to which effect.
    """
    style = themes(":root") + files("disconer.render.report").joinpath("page.css").read_text("utf-8")
    listed = " · ".join(f"{escaped(name)} {escaped(value)}" for name, value in facts.items())
    plots = [_by_step("Loss", "nats a guessed piece", "loss", history), _by_step("Rate", "rate", "rate", history)]
    return _PAGE.format(style=style, facts=listed, plots="\n".join(plots))


def _by_step(title: str, name: str, key: str, history: Sequence[Mapping[str, Any]]) -> str:
    points = [(float(record["step"]), float(record[key])) for record in history]
    steps, values = zip(*points, strict=True)
    x = _axis("step", 0.0, max(steps))
    y = _axis(name, 0.0 if key == "rate" else min(values), max(values))
    return plot(title, x, y, [Series(key, points)])


def _axis(name: str, low: float, high: float) -> Axis:
    """Round ticks, and the axis as wide as they are."""
    step = _round_step((high - low) / N_TICKS)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return Axis(name, first * step, last * step, [number * step for number in range(first, last + 1)])


def _round_step(rough: float) -> float:
    """The next 1, 2 or 5 times a power of ten.

    >>> _round_step(0.13), _round_step(30.0)
    (0.2, 50.0)
    """
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
