"""The sentences in which something is wrong, with all that is needed to show them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from disconer.evaluate.mistakes import Mistake, mistakes
from disconer.evaluate.nearby import Nearby
from disconer.text import segment
from disconer.types import Document, Entity


@dataclass(frozen=True, slots=True)
class WrongSentence:
    """A sentence with its errors.

    document, start: where it stands. `text` is that of the sentence, or more where an error reaches beyond it.
    gold, predicted: all entities that lie in it or reach into it.
    mistakes: those whose first entity starts in it.
    """

    document: str
    start: int
    text: str
    gold: tuple[Entity, ...]
    predicted: tuple[Entity, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def wrong_sentences(gold: Document, predicted: Document) -> Iterator[WrongSentence]:
    """The sentences of a document that have an error, in order."""
    found = mistakes(gold, predicted)
    if not found:
        return
    sentences = segment(gold).sentences or ()
    starts = [sentence.start for sentence in sentences]
    by_sentence: dict[int, list[Mistake]] = {}
    for mistake in found:
        by_sentence.setdefault(bisect_right(starts, _reach(mistake)[0]) - 1, []).append(mistake)
    gold_nearby, predicted_nearby = Nearby(gold.entities), Nearby(predicted.entities)
    for number, own in sorted(by_sentence.items()):
        reaches = [_reach(mistake) for mistake in own]
        if number >= 0:
            reaches.append((sentences[number].start, sentences[number].end))
        start, end = min(reach[0] for reach in reaches), max(reach[1] for reach in reaches)
        yield WrongSentence(
            gold.id,
            start,
            gold.text[start:end],
            tuple(gold_nearby(start, end)),
            tuple(predicted_nearby(start, end)),
            tuple(sorted(own, key=_reach)),
        )


def _reach(mistake: Mistake) -> tuple[int, int]:
    entities = mistake.gold + mistake.predicted
    return min(entity.start for entity in entities), max(entity.end for entity in entities)


def marked_stretches(sentence: WrongSentence, entities: tuple[Entity, ...]) -> Iterator[tuple[str, list[str], bool]]:
    """The sentence cut wherever a fragment starts or ends: text, labels of its entities, whether one is wrong."""
    at_fault = {entity.key for entity in sentence.gold} ^ {entity.key for entity in sentence.predicted}
    start, end = sentence.start, sentence.end
    edges = {edge for entity in entities for fragment in entity.fragments for edge in fragment if start < edge < end}
    position = start
    for edge in [*sorted(edges), end]:
        here = [
            entity
            for entity in entities
            if any(fragment.start <= position and edge <= fragment.end for fragment in entity.fragments)
        ]
        labels = list(dict.fromkeys(entity.label for entity in here))
        yield sentence.text[position - start : edge - start], labels, any(entity.key in at_fault for entity in here)
        position = edge
