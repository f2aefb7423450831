"""All metrics of predicted against gold documents, with error counts and calibration; means over several runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean, stdev
from typing import Any, NamedTuple, TypeVar

from disconer.core.types import Document, Kind
from disconer.evaluate import measures
from disconer.evaluate.lenient import Lenient, lenient
from disconer.evaluate.measures import LEVEL, RESAMPLES, SEED, Counts, Interval, f1_interval
from disconer.evaluate.mistakes import ErrorClass, mistakes
from disconer.evaluate.pairing import paired

N_BINS = 10


@dataclass(slots=True)
class Bin:
    """The predictions whose score lies in [low, high), in the last bin [low, 1]."""

    low: float
    high: float
    count: int = 0
    right: int = 0
    total_score: float = 0.0

    @property
    def mean_score(self) -> float:
        return self.total_score / self.count if self.count else 0.0

    @property
    def share_right(self) -> float:
        return self.right / self.count if self.count else 0.0


def _empty_bins() -> list[Bin]:
    return [Bin(number / N_BINS, (number + 1) / N_BINS) for number in range(N_BINS)]


@dataclass(slots=True)
class Calibration:
    """Predictions by score, in ten bins of equal width. Predictions without a score are only counted."""

    bins: list[Bin] = field(default_factory=_empty_bins)
    unscored: int = 0

    def add(self, score: float | None, right: bool) -> None:
        if score is None:
            self.unscored += 1
            return
        bin = self.bins[min(int(score * N_BINS), N_BINS - 1)]
        bin.count += 1
        bin.right += right
        bin.total_score += score

    @property
    def scored(self) -> int:
        return sum(bin.count for bin in self.bins)

    @property
    def error(self) -> float | None:
        """Expected calibration error: |mean score - share right|, weighted by count; None without scores."""
        if not self.scored:
            return None
        return sum(abs(bin.total_score - bin.right) for bin in self.bins) / self.scored

    def to_dict(self) -> dict[str, Any] | None:
        """None without scores."""
        if not self.scored:
            return None
        return {
            "error": self.error,
            "scored": self.scored,
            "unscored": self.unscored,
            "bins": [
                {
                    "low": bin.low,
                    "high": bin.high,
                    "count": bin.count,
                    "right": bin.right,
                    "mean_score": bin.mean_score,
                    "share_right": bin.share_right,
                }
                for bin in self.bins
            ],
        }


Name = TypeVar("Name", bound=Hashable)


@dataclass(slots=True)
class ErrorCount:
    """How often an error occurred, and how many missed gold entities and wrong predictions it explains."""

    errors: int = 0
    gold: int = 0
    predicted: int = 0


@dataclass(slots=True)
class Evaluation:
    """Predictions against gold.

    overall: whole entities, label and fragments.
    labels, kinds: the same of each label and each kind; see `measures.by_kind` for what a kind's F1 is.
    discontinuous_sentences: all entities of the sentences that a gold discontinuous entity touches;
        `n_discontinuous_sentences` says how many there are.
    lenient: entities found in part, by same label and by any; never mixed with the other, strict figures.
    fragments, relations: single fragments with their label, and pairs of fragments of one entity.
    errors: every missed gold entity and every wrong prediction, by class; see `mistakes.mistakes`.
    calibration: of the scores of predictions.
    """

    documents: int = 0
    overall: Counts = field(default_factory=Counts)
    labels: dict[str, Counts] = field(default_factory=dict)
    kinds: dict[Kind, Counts] = field(default_factory=lambda: {kind: Counts() for kind in Kind})
    n_discontinuous_sentences: int = 0
    discontinuous_sentences: Counts = field(default_factory=Counts)
    fragments: Counts = field(default_factory=Counts)
    relations: Counts = field(default_factory=Counts)
    lenient: Lenient = field(default_factory=Lenient)
    errors: dict[ErrorClass, ErrorCount] = field(default_factory=lambda: {error: ErrorCount() for error in ErrorClass})
    calibration: Calibration = field(default_factory=Calibration)
    _overall_by_document: list[Counts] = field(default_factory=list)
    _discontinuous_by_document: list[Counts] = field(default_factory=list)

    def add(self, gold: Document, predicted: Document) -> None:
        """Count one more document. Both must have the same text, which `pairing.paired` checks."""
        ours, theirs = measures.unique(gold), measures.unique(predicted)
        overall, kinds = measures.entities(ours, theirs), measures.by_kind(ours, theirs)
        n_sentences, in_sentences = measures.discontinuous_sentences(gold, ours, theirs)

        self.documents += 1
        self.overall += overall
        _add_each(self.labels, measures.by_label(ours, theirs))
        _add_each(self.kinds, kinds)
        self.n_discontinuous_sentences += n_sentences
        self.discontinuous_sentences += in_sentences
        self.fragments += measures.fragments(ours, theirs)
        self.relations += measures.relations(ours, theirs)
        self.lenient = self.lenient.plus(lenient(gold.text, ours, theirs))
        self._overall_by_document.append(overall)
        self._discontinuous_by_document.append(kinds.get(Kind.DISCONTINUOUS, _NOTHING))
        for mistake in mistakes(gold, predicted):
            count = self.errors[mistake.error]
            count.errors += 1
            count.gold += len(mistake.gold)
            count.predicted += len(mistake.predicted)
        for key, entity in theirs.items():
            self.calibration.add(entity.score, key in ours)

    @property
    def discontinuous(self) -> Counts:
        """Discontinuous entities alone, predicted against gold."""
        return self.kinds[Kind.DISCONTINUOUS]

    def overall_interval(self) -> Interval | None:
        """The 95 % bootstrap interval of the overall F1, over documents."""
        return f1_interval(self._overall_by_document)

    def discontinuous_interval(self) -> Interval | None:
        """The 95 % bootstrap interval of the F1 on discontinuous entities alone, over documents."""
        return f1_interval(self._discontinuous_by_document)

    def to_dict(self) -> dict[str, Any]:
        """All metrics as JSON values, counts and ratios, under stable keys."""
        return {
            "documents": self.documents,
            "overall": self.overall.to_dict(),
            "discontinuous": self.discontinuous.to_dict(),
            "discontinuous_sentences": {"sentences": self.n_discontinuous_sentences}
            | self.discontinuous_sentences.to_dict(),
            "fragments": self.fragments.to_dict(),
            "relations": self.relations.to_dict(),
            "lenient": {name: counts.to_dict() for name, counts in self.lenient._asdict().items()},
            "kinds": {kind.value: counts.to_dict() for kind, counts in self.kinds.items()},
            "labels": {label: counts.to_dict() for label, counts in sorted(self.labels.items())},
            "intervals": {
                "level": LEVEL,
                "resamples": RESAMPLES,
                "seed": SEED,
                "overall_f1": self.overall_interval(),
                "discontinuous_f1": self.discontinuous_interval(),
            },
            "errors": {error.value: asdict(count) for error, count in self.errors.items()},
            "calibration": self.calibration.to_dict(),
        }


_NOTHING = Counts()


def _add_each(totals: dict[Name, Counts], more: Mapping[Name, Counts]) -> None:
    for name, counts in more.items():
        totals[name] = totals.get(name, _NOTHING) + counts


def evaluate(gold: Iterable[Document], predicted: Iterable[Document], *, missing_as_empty: bool = False) -> Evaluation:
    """Compare predicted with gold documents, matched by id, in any order.

    missing_as_empty: a gold document without a prediction has no predicted entities; otherwise that is an error,
        as are a prediction without a gold document, and two texts that differ.
    """
    evaluation = Evaluation()
    for pair in paired(gold, predicted, missing_as_empty=missing_as_empty):
        evaluation.add(*pair)
    return evaluation


class Spread(NamedTuple):
    """Mean and sample standard deviation of `runs` figures; one run has no deviation.

    >>> str(Spread(0.6843, 0.0051, 3))
    '68.4 ± 0.5'
    """

    mean: float
    sd: float | None
    runs: int

    def __str__(self) -> str:
        """In per cent, for figures between 0 and 1."""
        deviation = "" if self.sd is None else f" ± {100 * self.sd:.1f}"
        return f"{100 * self.mean:.1f}{deviation}"


def over_seeds(evaluations: Iterable[Evaluation], figure: Callable[[Evaluation], float]) -> Spread:
    """Mean and standard deviation of any metric: `over_seeds(runs, lambda run: run.discontinuous.f1)`."""
    return spread([figure(evaluation) for evaluation in evaluations])


def spread(figures: Sequence[float]) -> Spread:
    """Mean and standard deviation of values."""
    if not figures:
        raise ValueError("no runs to take the mean of")
    return Spread(mean(figures), stdev(figures) if len(figures) > 1 else None, len(figures))
