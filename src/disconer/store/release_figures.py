"""The figures of a released model: over the seeds that were trained, and of the model itself. No torch here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from disconer.core.types import Kind
from disconer.evaluate.counts import Counts
from disconer.evaluate.seeds import spread

RATIOS = ("precision", "recall", "f1")

Evaluated = Mapping[str, Any]  # as `Evaluation.to_dict` has it
Place = tuple[str, ...]  # where an evaluation has counts
_NOTHING = Counts().to_dict()


def split_figures(runs: Sequence[Evaluated], own: Evaluated) -> dict[str, Any]:
    """What the card shows of a split: means and deviations over runs, and the model's own F1 and calibration."""
    errors = [run["calibration"]["error"] for run in runs]
    calibration = {"error": _spread(errors), "own": own["calibration"]["error"], "bins": own["calibration"]["bins"]}
    return {"rows": [_row(place, runs, own) for place in _places(own)], "calibration": calibration}


def _places(own: Evaluated) -> Iterator[Place]:
    """Of all entities, of each kind, of each label."""
    yield ("overall",)
    yield from (("kinds", kind.value) for kind in Kind)
    yield from (("labels", label) for label in sorted(own["labels"]))


def _row(place: Place, runs: Sequence[Evaluated], own: Evaluated) -> dict[str, Any]:
    counts = [_counts(run, place) for run in runs]
    ratios = {ratio: _spread([run[ratio] for run in counts]) for ratio in RATIOS}
    itself = _counts(own, place)
    return {"of": place[0], "name": place[-1], "gold": itself["gold"], **ratios, "own_f1": itself["f1"]}


def _counts(evaluated: Evaluated, place: Place) -> Mapping[str, Any]:
    """A run that neither met nor found a label has no counts of it."""
    found: Any = evaluated
    for name in place:
        found = found.get(name, _NOTHING)
    return dict(found)


def _spread(figures: Sequence[float]) -> list[float | None]:
    mean, deviation, _ = spread(figures)
    return [mean, deviation]
