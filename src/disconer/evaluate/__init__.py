"""Evaluation of predicted against gold entities: metrics, intervals, error classes, calibration; corpus checks.

May import `core`, `text` and `formats`. No torch.

>>> from disconer.evaluate import evaluate
>>> from disconer.core.types import Document, Entity
>>> gold = Document("a", "pain in knees and hands", (Entity("ADR", ((0, 13),)), Entity("ADR", ((0, 7), (18, 23)))))
>>> predicted = gold.replace(entities=(Entity("ADR", ((0, 13),)), Entity("ADR", ((0, 4), (18, 23)))))
>>> evaluation = evaluate([gold], [predicted])
>>> evaluation.overall.f1, evaluation.discontinuous.f1
(0.5, 0.0)
"""

from disconer.evaluate.evaluation import Calibration, ErrorCount, Evaluation, Spread, evaluate, over_seeds, spread
from disconer.evaluate.measures import Counts, Interval, f1_interval
from disconer.evaluate.mistakes import ErrorClass, Mistake, mistakes
from disconer.evaluate.pairing import paired

__all__ = [
    "Calibration",
    "Counts",
    "ErrorClass",
    "ErrorCount",
    "Evaluation",
    "Interval",
    "Mistake",
    "Spread",
    "evaluate",
    "f1_interval",
    "mistakes",
    "over_seeds",
    "paired",
    "spread",
]
