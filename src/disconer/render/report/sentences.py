"""Wrong sentences: found and drawn as documents arrive, and kept compressed.

The page shows a few at a time. They are stored in it as JSON, which the browser parses only when needed: a hundred
thousand sentences as elements would take minutes.
"""

from __future__ import annotations

import json
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from disconer.core.types import Document, Entity, Kind
from disconer.evaluate.measures import Key
from disconer.evaluate.mistakes import ErrorClass, Mistake, Nearby, mistakes
from disconer.render.html import document_html
from disconer.render.marks import Mark, Standing
from disconer.render.report.figures import kinds_of, labels_of
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


CHUNK = 100  # sentences that are read together

_ERRORS = {error: number for number, error in enumerate(ErrorClass)}
_KINDS = {kind: number for number, kind in enumerate(Kind)}


class Sentences:
    """Collects wrong sentences, and writes them into a page."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._waiting: list[str] = []
        self._labels: dict[str, int] = {}
        self._facts: list[str] = []  # of each sentence, the values of the filters
        self._palette = Palette()

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, sentence: WrongSentence) -> None:
        self._waiting.append(self._article(sentence))
        self._facts.append(_json([self._fact(mistake) for mistake in sentence.mistakes]))
        if len(self._waiting) == CHUNK:
            self._flush()

    def labels(self) -> list[str]:
        """All labels with an error; their positions are their numbers in the facts."""
        return list(self._labels)

    def write(self, stream: BinaryIO) -> None:
        """Write the elements that the page's script reads."""
        self._flush()
        facts = ",".join(self._facts)
        stream.write(f'<script type="application/json" id="facts">[{facts}]</script>\n'.encode())
        for chunk in self._chunks:
            stream.write(zlib.decompress(chunk))

    def _flush(self) -> None:
        if self._waiting:
            chunk = f'<script type="application/json" class="chunk">{_json(self._waiting)}</script>\n'
            self._chunks.append(zlib.compress(chunk.encode(), level=1))
            self._waiting.clear()

    def _fact(self, mistake: Mistake) -> list[object]:
        """The numbers of the error class, of the labels and of the kinds."""
        labels = [self._labels.setdefault(label, len(self._labels)) for label in labels_of(mistake)]
        return [_ERRORS[mistake.error], labels, [_KINDS[kind] for kind in kinds_of(mistake)]]

    def _article(self, sentence: WrongSentence) -> str:
        window = (sentence.start, sentence.end)
        drawn = document_html(sentence.document, sentence.marks, self._palette, window=window)
        errors = "".join(f"<li>{_words(mistake)}</li>" for mistake in sentence.mistakes)
        place = f"{escaped(sentence.document.id)}, characters {sentence.start:,} to {sentence.end:,}"
        return f"<article><h3>{place}</h3>\n{drawn}<ul>{errors}</ul></article>"


def _words(mistake: Mistake) -> str:
    return f"<b>{mistake.error.words}</b>: {_mentions(mistake.gold)} → {_mentions(mistake.predicted)}"


def _mentions(entities: tuple[Entity, ...]) -> str:
    return ", ".join(f"{escaped(one.label)} “{escaped(Mark(one).quoted)}”" for one in entities) or "nothing"


def _json(value: object) -> str:
    """JSON that is safe inside an element: it contains no `<`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
