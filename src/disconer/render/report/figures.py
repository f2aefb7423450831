"""The plots of an evaluation (precision-recall, calibration, learning curve) and its tables of errors."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from disconer.core.types import Kind
from disconer.evaluate.evaluation import Calibration
from disconer.evaluate.measures import Counts, Unique
from disconer.evaluate.mistakes import ErrorClass, Mistake
from disconer.render.report.plots import Axis, Dot, Series, plot
from disconer.render.stylesheet import escaped

N_STEPS = 1_000  # distinct thresholds


class Point(NamedTuple):
    """Precision and recall of the predictions that score at least `threshold`."""

    threshold: float
    precision: float
    recall: float
    f1: float

    @property
    def shown(self) -> str:
        """All digits of the threshold: a rounded one would keep other predictions, and give another F1."""
        return f"{self.threshold:.3f}"


class Curve:
    """Counts predictions by score; a prediction without a score has score 1."""

    def __init__(self) -> None:
        self.n_gold = self.n_scored = 0
        self._right = [0] * (N_STEPS + 1)
        self._all = [0] * (N_STEPS + 1)

    def add(self, gold: Unique, predicted: Unique) -> None:
        """Count one more document."""
        self.n_gold += len(gold)
        for key, entity in predicted.items():
            self.n_scored += entity.score is not None
            step = int((1.0 if entity.score is None else entity.score) * N_STEPS)
            self._all[step] += 1
            self._right[step] += key in gold

    def points(self) -> Iterator[Point]:
        """From the highest threshold that any prediction reaches to the lowest."""
        right = predicted = 0
        for step in range(N_STEPS, -1, -1):
            if self._all[step]:
                right += self._right[step]
                predicted += self._all[step]
                counts = Counts(self.n_gold, right, predicted, right)
                yield Point(step / N_STEPS, counts.precision, counts.recall, counts.f1)

    @property
    def best(self) -> Point | None:
        """Where F1 is highest; None without scores."""
        return max(self.points(), key=lambda point: point.f1, default=None) if self.n_scored else None


METRICS = "metrics.jsonl"  # in the folder of a run; the model is its best/ or last/


class Epoch(NamedTuple):
    number: int
    loss: float
    dev_f1: float
    dev_f1_discontinuous: float


def learning_curve(model: str) -> list[Epoch]:
    """The epochs of a model folder's training run; none if it has no run, or the record is damaged."""
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
        raise ValueError(f"a value that is not a number in {line!r}")
    return Epoch(int(record["epoch"]), *figures)


PERCENT = (0, 20, 40, 60, 80, 100)
N_TICKS = 5
HEADROOM = 1.05  # above the highest figure
N_DOTS = 10  # thresholds marked on a curve


def precision_recall(curves: dict[str, Curve]) -> str:
    """The precision-recall plot, with thresholds marked on each curve."""
    series = []
    for name, curve in curves.items():
        points = list(curve.points())
        if curve.n_scored and curve.n_gold and points:
            line = [(100 * point.recall, 100 * point.precision) for point in points]
            series.append(Series(name, line, [_dot(name, point) for point in _spread(points)]))
    recall, precision = Axis("recall", 0, 100, PERCENT), Axis("precision", 0, 100, PERCENT)
    return plot("Precision and recall by threshold", recall, precision, series) if series else ""


def _spread(points: Sequence[Point]) -> Iterator[Point]:
    """Points about a tenth of the scores apart."""
    last = math.inf
    for point in points:
        if last - point.threshold >= 1 / N_DOTS:
            yield point
            last = point.threshold


def _dot(name: str, point: Point) -> Dot:
    note = (
        f"{name}, score at least {point.shown}: precision {100 * point.precision:.1f}, "
        f"recall {100 * point.recall:.1f}, F1 {100 * point.f1:.1f}"
    )
    return Dot(100 * point.recall, 100 * point.precision, note)


def calibration_plot(calibration: Calibration) -> str:
    """Accuracy of predictions by score; on the diagonal, scores are perfectly calibrated."""
    bins = [bin for bin in calibration.bins if bin.count]
    if not bins:
        return ""
    dots = [
        Dot(
            100 * bin.mean_score,
            100 * bin.share_right,
            f"score {bin.low:.1f} to {bin.high:.1f}: {bin.count:,} predictions, {100 * bin.share_right:.1f} % right",
        )
        for bin in bins
    ]
    score, right = Axis("mean score (%)", 0, 100, PERCENT), Axis("share right (%)", 0, 100, PERCENT)
    series = Series("predictions", [(dot.x, dot.y) for dot in dots], dots)
    return plot("Calibration", score, right, [series], diagonal=True)


def learning_plots(epochs: Sequence[Epoch]) -> Iterator[str]:
    """F1 on dev and the loss, epoch by epoch."""
    if len(epochs) < 2:
        return
    numbers = Axis("epoch", epochs[0].number, epochs[-1].number, _ticks(epochs[0].number, epochs[-1].number))
    f1 = [(one.number, 100 * one.dev_f1) for one in epochs]
    discontinuous = [(one.number, 100 * one.dev_f1_discontinuous) for one in epochs]
    best = max(epochs, key=lambda one: one.dev_f1)
    dot = Dot(best.number, 100 * best.dev_f1, f"best: epoch {best.number}, F1 {100 * best.dev_f1:.1f}")
    series = [Series("all entities", f1, [dot]), Series("discontinuous alone", discontinuous)]
    yield plot("F1 on dev while training", numbers, Axis("F1", 0, 100, PERCENT), series)
    losses = [(one.number, one.loss) for one in epochs]
    highest = max(loss for _, loss in losses) * HEADROOM
    yield plot("Loss while training", numbers, Axis("loss", 0, highest, _ticks(0, highest)), [Series("loss", losses)])


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two values, at most N_TICKS steps; integers if both are.

    >>> _ticks(0, 23), _ticks(1, 3), _ticks(0.0, 0.4)
    ([0, 5, 10, 15, 20], [1, 2, 3], [0.0, 0.1, 0.2, 0.30000000000000004, 0.4])
    """
    span = max(high - low, 1e-9)
    power = 10 ** math.floor(math.log10(span / N_TICKS))
    step = next(step for factor in (1, 2, 5, 10) if span / (step := factor * power) <= N_TICKS)
    if isinstance(low, int) and isinstance(high, int):
        step = max(1, round(step))
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


class Confusion:
    """Counts errors. An error counts once for each label and each kind among its entities."""

    def __init__(self) -> None:
        self.by_label: Counter[tuple[ErrorClass, str]] = Counter()
        self.by_kind: Counter[tuple[ErrorClass, Kind]] = Counter()
        self.labels: Counter[tuple[str, str]] = Counter()  # gold, predicted

    def add(self, found: Iterable[Mistake]) -> None:
        for mistake in found:
            self.by_label.update((mistake.error, label) for label in labels_of(mistake))
            self.by_kind.update((mistake.error, kind) for kind in kinds_of(mistake))
            if mistake.error is ErrorClass.WRONG_TYPE:
                self.labels[mistake.gold[0].label, mistake.predicted[0].label] += 1


def labels_of(mistake: Mistake) -> list[str]:
    return sorted({entity.label for entity in mistake.gold + mistake.predicted})


def kinds_of(mistake: Mistake) -> list[Kind]:
    present = {entity.kind for entity in mistake.gold + mistake.predicted}
    return [kind for kind in Kind if kind in present]


MAX_LABELS, MAX_PAIRS = 40, 15  # rows of the tables; the rest is only counted


def errors_by_kind(confusion: Confusion) -> str:
    names = [(kind.value, number) for number, kind in enumerate(Kind)]
    counts = {(error, kind.value): count for (error, kind), count in confusion.by_kind.items()}
    return _matrix(names, counts, "kind")


def errors_by_label(confusion: Confusion, numbers: Sequence[str]) -> str:
    """numbers: the labels in the order of their numbers on the page."""
    totals: Counter[str] = Counter()
    for (_, label), count in confusion.by_label.items():
        totals[label] += count
    names = [(label, numbers.index(label)) for label, _ in totals.most_common(MAX_LABELS)]
    return _matrix(names, confusion.by_label, "label") + _rest(len(totals) - MAX_LABELS)


def labels_confused(confusion: Confusion) -> str:
    """Labels predicted instead of others, by frequency."""
    rows = "\n".join(
        f"<tr><td>{escaped(gold)}</td><td>{escaped(predicted)}</td><td>{count:,}</td></tr>"
        for (gold, predicted), count in confusion.labels.most_common(MAX_PAIRS)
    )
    head = '<tr><th scope="col">gold</th><th scope="col">predicted instead</th><th scope="col">times</th></tr>'
    table = f'<table class="names"><thead>{head}</thead>\n<tbody>\n{rows}\n</tbody></table>'
    return f'<div class="wide">{table}</div>\n{_rest(len(confusion.labels) - MAX_PAIRS)}' if rows else ""


def _matrix(names: Sequence[tuple[str, int]], counts: Mapping[tuple[ErrorClass, str], int], filter: str) -> str:
    """A row for each name, a column for each error class. The numbers are the values of the page's `filter`."""
    most = max(counts.values(), default=1)
    head = "".join(f'<th scope="col">{error.words}</th>' for error in ErrorClass)
    rows = []
    for name, number in names:
        cells = "".join(
            _cell(counts.get((error, name), 0), most, f'data-error="{place}" data-{filter}="{number}"')
            for place, error in enumerate(ErrorClass)
        )
        rows.append(f'<tr><th scope="row">{escaped(name)}</th>{cells}</tr>')
    table = f'<table class="heat"><thead><tr><td></td>{head}</tr></thead>\n<tbody>\n{"".join(rows)}\n</tbody></table>'
    return f'<div class="wide">{table}</div>\n'


def _cell(count: int, most: int, filters: str) -> str:
    if not count:
        return "<td></td>"
    return f'<td style="--share: {count / most:.2f}"><button type="button" {filters}>{count:,}</button></td>'


def _rest(n_hidden: int) -> str:
    return f'<p class="note">and {n_hidden:,} more</p>\n' if n_hidden > 0 else ""
