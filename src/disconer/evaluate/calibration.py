"""Calibration: of the predictions with a score near 0.8, about 80 % should be correct."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
