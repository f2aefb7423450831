"""How a model was learnt: the record of its training run, where there is one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

METRICS = "metrics.jsonl"  # in the folder of a run; the model is that folder's best/ or last/


class Epoch(NamedTuple):
    number: int
    loss: float
    dev_f1: float
    dev_f1_discontinuous: float


def learning_curve(model: str) -> list[Epoch]:
    """The epochs of the run that a model folder belongs to; none if it is not of a run, or the record is damaged."""
    folder = Path(model)
    for place in (folder / METRICS, folder.resolve().parent / METRICS):
        if folder.is_dir() and place.is_file():
            try:
                return [_epoch(line) for line in place.read_text("utf-8").splitlines()]
            except (OSError, ValueError, KeyError, TypeError):
                return []
    return []


def _epoch(line: str) -> Epoch:
    record = json.loads(line)
    figures = [float(record[name]) for name in ("loss", "dev_f1", "dev_f1_discontinuous")]
    if not all(map(math.isfinite, figures)):
        raise ValueError(f"a figure that is no number in {line!r}")
    return Epoch(int(record["epoch"]), *figures)
