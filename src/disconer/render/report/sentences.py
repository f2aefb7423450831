"""Wrong sentences on their way to the page: drawn as they come, and kept compressed, to a tenth of their size.

The page shows a few at a time. They stand in it as JSON, which a browser reads only when they are to be shown:
a hundred thousand of them as elements would take it minutes.
"""

from __future__ import annotations

import json
import zlib
from typing import BinaryIO

from disconer.core.types import Entity, Kind
from disconer.evaluate.mistakes import ErrorClass, Mistake
from disconer.render.escape import escaped
from disconer.render.html import document_html
from disconer.render.marks import Mark
from disconer.render.palette import Palette
from disconer.render.report.confusion import kinds_of, labels_of
from disconer.render.report.wrong import WrongSentence

CHUNK = 100  # sentences that are read together

_ERRORS = {error: number for number, error in enumerate(ErrorClass)}
_KINDS = {kind: number for number, kind in enumerate(Kind)}


class Sentences:
    """Collects wrong sentences, and writes them into a page."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._waiting: list[str] = []
        self._labels: dict[str, int] = {}
        self._facts: list[str] = []  # of each sentence what it can be found by
        self._palette = Palette()

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, sentence: WrongSentence) -> None:
        self._waiting.append(self._article(sentence))
        self._facts.append(_json([self._fact(mistake) for mistake in sentence.mistakes]))
        if len(self._waiting) == CHUNK:
            self._flush()

    def labels(self) -> list[str]:
        """All labels that have an error; their places are their numbers in the facts."""
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
    """JSON that may stand in an element: no `<` of it can end the element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
