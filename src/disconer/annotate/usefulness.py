"""The order in which documents are most useful to annotate, for a model that learns from them.

A document is useful if the model is unsure of its entities and near misses there, and if it is unlike those that are
already annotated. The first 500 documents are chosen one after another, each also unlike those chosen before it; the
others then follow by the same value.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disconer.core.types import Entity
from disconer.nn.reader import Floats

UNSURE_WEIGHT = 0.5  # of uncertainty; the rest is unlikeness
HIGH = 0.95  # quantile of uncertainty that counts as full
COMPARED = 20_000  # maximum words that unlikeness is computed from: the most frequent ones
CELLS = 20_000_000  # of the vectors of all texts, at most: with more than 1,000 texts, fewer words are compared
CHOSEN = 500  # documents chosen one after another; soon after, those first ones are done, and all is ordered again
_WORD = re.compile(r"[^\W\d_]{2,}")


def unsureness(candidates: Iterable[Entity], n_words: int) -> float:
    """How unsure a model is of a document: the entropy of its candidates' scores, in bits per square root of words.

    Long documents hold more, but also take longer to annotate; the square root stands between the two.
    """
    return sum(_entropy(entity.score or 0.0) for entity in candidates) / math.sqrt(max(n_words, 1))


def _entropy(probability: float) -> float:
    """
    >>> _entropy(0.5), _entropy(1.0)
    (1.0, 0.0)
    """
    if not 0 < probability < 1:
        return 0.0
    return -sum(part * math.log2(part) for part in (probability, 1 - probability))


def most_useful_first(
    texts: Mapping[str, str], candidates: Mapping[str, Sequence[Entity]] | None, done: Collection[str]
) -> list[str]:
    """The ids of the documents that are not done, the most useful first.

    candidates: a model's entities and near misses in those documents, with scores; None without a model: then only
        unlikeness counts.
    """
    open_ids = [id for id in texts if id not in done]
    vectors = word_vectors(list(texts.values()))
    rows = {id: row for row, id in enumerate(texts)}
    unsure = _scaled([unsureness(candidates[id], len(texts[id].split())) for id in open_ids] if candidates else [])
    chooser = _Chooser(vectors[[rows[id] for id in open_ids]], vectors[[rows[id] for id in texts if id in done]])
    return [open_ids[place] for place in chooser.order(unsure if candidates else None)]


@dataclass(slots=True)
class _Chooser:
    """Chooses documents one by one.

    left, known: vectors of the documents to choose from and of those that are annotated.  Shape: (documents, words)
    """

    left: Floats
    known: Floats

    def order(self, unsure: Floats | None) -> list[int]:
        """unsure: of each document, from 0 to 1.  Shape: (documents,)"""
        n = len(self.left)
        nearest = self._nearest_known()
        chosen: dict[int, None] = {}  # in order
        for _ in range(min(n, CHOSEN)):
            value = _value(nearest, unsure)
            value[list(chosen)] = -np.inf
            best = int(np.argmax(value))
            chosen[best] = None
            nearest = np.maximum(nearest, self.left @ self.left[best])
        rest = np.argsort(-_value(nearest, unsure), kind="stable").tolist()
        return [*chosen, *(place for place in rest if place not in chosen)]

    def _nearest_known(self) -> Floats:
        """The similarity of each to the most similar annotated document.  Shape: (documents,)"""
        if not len(self.known):
            return np.zeros(len(self.left), dtype=np.float32)
        blocks = [self.left[start : start + CHOSEN] for start in range(0, len(self.left), CHOSEN)]
        return np.concatenate([np.zeros(0, np.float32), *((block @ self.known.T).max(axis=1) for block in blocks)])


def _value(nearest: Floats, unsure: Floats | None) -> Floats:
    """How useful documents are, given the similarity to the most similar earlier one.  Shape: (documents,)"""
    return 1 - nearest if unsure is None else UNSURE_WEIGHT * unsure + (1 - UNSURE_WEIGHT) * (1 - nearest)


def _scaled(values: Sequence[float]) -> Floats:
    """Values scaled to 0 to 1, as their own scale depends on the model; a few outliers do not determine it."""
    high = max(float(np.quantile(values, HIGH)), 1e-9) if values else 1.0
    scaled: Floats = np.minimum(np.array(values, dtype=np.float32) / np.float32(high), np.float32(1))
    return scaled


def word_vectors(texts: Sequence[str]) -> Floats:
    """TF-IDF vectors, one per text, of the words that several have.  Shape: (texts, words)

    Their length is at most 1: words that only this text has count for its length, but not for similarity.
    """
    counts = [Counter(_WORD.findall(text.lower())) for text in texts]
    documents: Counter[str] = Counter(word for own in counts for word in own)
    n_compared = min(COMPARED, CELLS // max(len(texts), 1))
    column = {word: place for place, (word, n) in enumerate(documents.most_common(n_compared)) if n > 1}
    vectors = np.zeros((len(texts), max(len(column), 1)), dtype=np.float32)
    for row, own in enumerate(counts):
        weights = {word: (1 + math.log(n)) * math.log(1 + len(texts) / documents[word]) for word, n in own.items()}
        length = math.sqrt(sum(weight**2 for weight in weights.values()))
        for word, weight in weights.items():
            if word in column:
                vectors[row, column[word]] = weight / length
    return vectors
