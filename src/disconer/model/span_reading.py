"""From the span head's decisions to entities with scores, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from operator import itemgetter

from torch import Tensor

from disconer.model.found import Found
from disconer.model.scorers import Spans
from disconer.span.decode import assemble

MOST_ENTITIES = 1000  # of one label in a window: more come only of a model that has not learnt anything


@dataclass(frozen=True, slots=True)
class Fragments:
    """The decisions of a batch as plain lists, fetched from the device at once.

    spans: (row, start, end) of each fragment, sorted, end exclusive.
    labels: of each fragment, its label numbers and their probabilities.
    succession: of each pair of fragments judged to be of one entity, the probability of that.
    """

    spans: list[tuple[int, int, int]]
    labels: list[dict[int, float]]
    succession: dict[tuple[int, int], float]

    @classmethod
    def from_tensors(
        cls, spans: Spans, chances: Tensor, labelled: Tensor, pairs: Tensor, succession: Tensor
    ) -> Fragments:
        places = zip(spans.row.tolist(), spans.start.tolist(), (spans.end + 1).tolist(), strict=True)
        labels: list[dict[int, float]] = [{} for _ in range(len(spans))]
        which = labelled.nonzero()
        for (fragment, label), chance in zip(which.tolist(), chances[labelled].tolist(), strict=True):
            labels[fragment][label] = chance
        linked = succession > 0
        edges = zip(pairs[:, linked].T.tolist(), succession[linked].tolist(), strict=True)
        return cls(list(places), labels, {(a, b): chance for (a, b), chance in edges})


def read_entities(fragments: Fragments, labels: Sequence[str], n_rows: int) -> list[list[Found]]:
    """The entities of each window.

    The score of an entity is the probability that every decision it stands on is right, taken as independent:
    the product over its fragments of the probability of their label, and over pairs of its fragments of the
    probability of succession.
    """
    found: list[list[Found]] = [[] for _ in range(n_rows)]
    for row, group in groupby(enumerate(fragments.spans), key=lambda item: item[1][0]):
        numbers = list(map(itemgetter(0), group))
        origin = numbers[0]
        edges = {
            (a - origin, b - origin): chance
            for a, b in combinations(numbers, 2)
            if (chance := fragments.succession.get((a, b)))
        }
        own = fragments.labels[origin : origin + len(numbers)]
        spans = [fragments.spans[number][1:] for number in numbers]
        named = [[labels[label] for label in chances] for chances in own]
        label_numbers = {labels[label]: label for chances in own for label in chances}
        for entity in assemble(spans, named, edges, most=MOST_ENTITIES):
            score = 1.0
            for span in entity.spans:
                score *= own[span][label_numbers[entity.label]]
            for pair in combinations(entity.spans, 2):
                score *= edges[pair]
            found[row].append(Found(entity.label, entity.ranges, score))
    return found
