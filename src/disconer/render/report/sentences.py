"""Wrong sentences: found and drawn as documents arrive."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from disconer.core.types import Document, Entity
from disconer.evaluate.measures import Key
from disconer.evaluate.mistakes import Mistake, Nearby, mistakes
from disconer.render.html import document_html
from disconer.render.marks import Mark, Standing
from disconer.render.stylesheet import Palette, escaped
from disconer.text import segment


@dataclass(frozen=True, slots=True)
class WrongSentence:
    """A sentence with its errors.

    document, start, end: the range of the sentence, or more if an error extends beyond it.
    marks: all entities that overlap it, gold and predicted.
    mistakes: those whose first entity starts in it.
    """

    document: Document
    start: int
    end: int
    marks: tuple[Mark, ...]
    mistakes: tuple[Mistake, ...]

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


def wrong_sentences(gold: Document, predicted: Document) -> Iterator[WrongSentence]:
    """The sentences of a document with an error, in order."""
    found = mistakes(gold, predicted)
    if not found:
        return
    sentences = segment(gold).sentences or ()
    starts = [sentence.start for sentence in sentences]
    by_sentence: dict[int, list[Mistake]] = {}
    for mistake in found:
        by_sentence.setdefault(bisect_right(starts, _reach(mistake)[0]) - 1, []).append(mistake)
    marks = _Marks(gold, predicted, found)
    for number, own in sorted(by_sentence.items()):
        reaches = [_reach(mistake) for mistake in own]
        if number >= 0:
            reaches.append((sentences[number].start, sentences[number].end))
        start, end = min(reach[0] for reach in reaches), max(reach[1] for reach in reaches)
        yield WrongSentence(gold, start, end, tuple(marks.within(start, end)), tuple(sorted(own, key=_reach)))


def _reach(mistake: Mistake) -> tuple[int, int]:
    entities = mistake.gold + mistake.predicted
    return min(entity.start for entity in entities), max(entity.end for entity in entities)


class _Marks:
    """The marks in a range of a document."""

    def __init__(self, gold: Document, predicted: Document, found: Iterable[Mistake]) -> None:
        missed: dict[Key, str] = {}
        wrong: dict[Key, str] = {}
        for mistake in found:
            missed |= {entity.key: mistake.error.words for entity in mistake.gold}
            wrong |= {entity.key: mistake.error.words for entity in mistake.predicted}
        self._gold, self._missed = Nearby(gold.entities), missed
        self._predicted, self._wrong = Nearby(predicted.entities), wrong

    def within(self, start: int, end: int) -> Iterator[Mark]:
        """Right, then missed, then wrong entities."""
        missed, predicted = _unique(self._gold(start, end)), _unique(self._predicted(start, end))
        for entity in predicted:
            if entity.key not in self._wrong:
                yield Mark(entity, Standing.RIGHT)
        for entity in missed:
            if entity.key in self._missed:
                yield Mark(entity, Standing.MISSED, self._missed[entity.key])
        for entity in predicted:
            if entity.key in self._wrong:
                yield Mark(entity, Standing.WRONG, self._wrong[entity.key])


def _unique(entities: Iterable[Entity]) -> list[Entity]:
    """Duplicate annotations are drawn once."""
    found: dict[Key, Entity] = {}
    for entity in entities:
        found.setdefault(entity.key, entity)
    return list(found.values())


def article(sentence: WrongSentence, palette: Palette) -> str:
    """A wrong sentence, drawn, with its errors listed."""
    window = (sentence.start, sentence.end)
    drawn = document_html(sentence.document, sentence.marks, palette, window=window)
    errors = "".join(f"<li>{_words(mistake)}</li>" for mistake in sentence.mistakes)
    return f"<article>{place_line(sentence.document.id, *window)}\n{drawn}<ul>{errors}</ul></article>"


def place_line(document: str, start: int, end: int) -> str:
    """Where a sentence is."""
    return f"<h3>{escaped(document)}, characters {start:,} to {end:,}</h3>"


def _words(mistake: Mistake) -> str:
    return f"<b>{mistake.error.words}</b>: {mentions(mistake.gold)} → {mentions(mistake.predicted)}"


def mentions(entities: tuple[Entity, ...]) -> str:
    return ", ".join(f"{escaped(one.label)} “{escaped(Mark(one).quoted)}”" for one in entities) or "nothing"
