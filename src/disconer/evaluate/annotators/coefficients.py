"""Chance-corrected agreement over words: Cohen's kappa of two annotators, Krippendorff's alpha of two or more.

A word's category is the set of labels of the entities that touch it. Both coefficients are nominal: two categories are
the same or they are not. Neither sees which words form one entity: that is what F1 is for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from disconer.core.types import Document
from disconer.evaluate.bootstrap import Estimate, Numbers, estimate
from disconer.evaluate.lenient import Words

Category = Hashable
Ratings = Sequence[Category]  # of each word, by one annotator


def word_categories(document: Document) -> list[frozenset[str]]:
    """Of each word, the labels of the entities that touch it; none for most words.

    >>> from disconer.core.types import Entity
    >>> word_categories(Document("d", "mild pain", (Entity("ADR", ((5, 9),)),)))
    [frozenset(), frozenset({'ADR'})]
    """
    words = Words(document.text)
    labels: list[set[str]] = [set() for _ in range(len(words))]
    for entity in document.entities:
        for number in words.touched(entity.fragments):
            labels[number].add(entity.label)
    return [frozenset(own) for own in labels]


class Kappa:
    """Cohen's kappa of two annotators, document by document."""

    def __init__(self) -> None:
        self._agreed: list[int] = []
        self._first: list[Counter[Category]] = []
        self._second: list[Counter[Category]] = []

    def add(self, first: Ratings, second: Ratings) -> None:
        """Count the words of one more document."""
        self._agreed.append(sum(one == other for one, other in zip(first, second, strict=True)))
        self._first.append(Counter(first))
        self._second.append(Counter(second))

    @property
    def words(self) -> int:
        return sum(counts.total() for counts in self._first)

    def estimate(self) -> Estimate:
        """None if there are no words, or all are of one category for both: there is nothing to agree on."""
        categories = _numbered([*self._first, *self._second])
        agreed = np.array(self._agreed, dtype=np.float64).reshape(-1, 1)
        rows = np.hstack([agreed, _matrix(self._first, categories), _matrix(self._second, categories)])
        return estimate(rows, _kappa)


def _kappa(sums: Numbers) -> Numbers:
    """From columns: words agreed on, words of each category by the first annotator, and by the second."""
    first, second = np.split(sums[..., 1:], 2, axis=-1)
    words = first.sum(axis=-1)
    observed = sums[..., 0] / words
    expected = (first * second).sum(axis=-1) / words**2
    return np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)


class Alpha:
    """Krippendorff's alpha, nominal, of two or more annotators; a document may lack some of them."""

    def __init__(self) -> None:
        self._disagreed: list[float] = []
        self._values: list[Counter[Category]] = []

    def add(self, ratings: Sequence[Ratings]) -> None:
        """Count the words of one more document, by each annotator who has it; a single one says nothing."""
        if len(ratings) < 2:
            return
        disagreed = 0.0
        for values in zip(*ratings, strict=True):
            same = sum(times * (times - 1) for times in Counter(values).values())
            disagreed += (len(values) * (len(values) - 1) - same) / (len(values) - 1)
        self._disagreed.append(disagreed)
        self._values.append(sum((Counter(own) for own in ratings), Counter()))

    def estimate(self) -> Estimate:
        """None if there are no words, or all are of one category."""
        rows = np.hstack([np.array(self._disagreed).reshape(-1, 1), _matrix(self._values, _numbered(self._values))])
        return estimate(rows, _alpha)


def _alpha(sums: Numbers) -> Numbers:
    """From columns: disagreeing pairs of values, each word's divided by its annotators less one; counts of values."""
    values = sums[..., 1:]
    total = values.sum(axis=-1)
    possible = total**2 - (values**2).sum(axis=-1)
    return np.where(possible > 0, 1 - (total - 1) * sums[..., 0] / possible, np.nan)


def _numbered(counts: Sequence[Counter[Category]]) -> dict[Category, int]:
    return {category: number for number, category in enumerate(dict.fromkeys(name for own in counts for name in own))}


def _matrix(counts: Sequence[Counter[Category]], categories: dict[Category, int]) -> Numbers:
    """Shape: (documents, categories)"""
    matrix = np.zeros((len(counts), len(categories)))
    for row, own in enumerate(counts):
        for category, times in own.items():
            matrix[row, categories[category]] = times
    return matrix
