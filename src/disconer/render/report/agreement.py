"""The page of an agreement: its tables, and every sentence with a disagreement, one drawing per annotator."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.evaluate.annotators.agreement import Agreement
from disconer.evaluate.annotators.agreement_table import tables
from disconer.evaluate.annotators.disputes import Difference, Disagreement, Dispute, Versions, agreed, disputes
from disconer.evaluate.measures import Key
from disconer.evaluate.mistakes import Nearby
from disconer.render.html import document_html
from disconer.render.marks import Mark, Standing
from disconer.render.report.parts import Articles, chooser, head, mentions, place_line, table_html, tail
from disconer.render.stylesheet import Palette, escaped
from disconer.text import segment

_LEGEND = "One drawing per annotator. Grey: all agree. In colour: what not all of them have."
_CLASSES = {one: number for number, one in enumerate(Disagreement)}


class AgreementReport:
    """Collects the content of the page from a stream of documents, then writes it."""

    def __init__(self) -> None:
        self._articles = Articles()
        self._palette = Palette()

    def add(self, versions: Versions) -> None:
        """Add a document; with only one annotator there is no disagreement."""
        if len(versions) < 2:
            return
        sentences = segment(next(iter(versions.values()))).sentences or ()
        known = {entity.key for entity in agreed(versions)}
        for own in _by_sentence(sentences, disputes(versions)):
            found = [difference for dispute in own for difference in dispute.differences]
            facts = [(_CLASSES[one.disagreement], one.entities) for one in found]
            self._articles.add(self._article(versions, _window(sentences, own), known, found), facts)

    def write(self, stream: BinaryIO, agreement: Agreement, facts: Mapping[str, str]) -> None:
        """Write the page.

        agreement: of the same documents. facts: what was compared, shown at the top.
        """
        for part in self._parts(agreement, facts):
            stream.write(part.encode())
        self._articles.write(stream)
        stream.write(tail().encode())

    def _parts(self, agreement: Agreement, facts: Mapping[str, str]) -> Iterator[str]:
        yield head("Agreement", facts)
        for table in tables(agreement):
            yield table_html(table)
        classes = [one.value for one in Disagreement]
        yield chooser("Sentences with disagreements", _LEGEND, "disagreement", classes, self._articles)

    def _article(
        self, versions: Versions, window: tuple[int, int], known: set[Key], found: Iterable[Difference]
    ) -> str:
        drawn = "".join(
            f"<section><h4>{escaped(name)}</h4>\n{self._drawn(version, window, known)}</section>\n"
            for name, version in versions.items()
        )
        listed = "".join(f"<li>{_words(difference)}</li>" for difference in found)
        place = place_line(next(iter(versions.values())).id, *window)
        return f'<article>{place}\n<div class="versions">\n{drawn}</div><ul>{listed}</ul></article>'

    def _drawn(self, document: Document, window: tuple[int, int], known: set[Key]) -> str:
        unique = {entity.key: entity for entity in Nearby(document.entities)(*window)}
        marks = [Mark(one, Standing.RIGHT if key in known else Standing.PLAIN) for key, one in unique.items()]
        return document_html(document, marks, self._palette, window=window)


def _by_sentence(sentences: Sequence[Sentence], found: list[Dispute]) -> Iterator[list[Dispute]]:
    """Disputes that start in the same sentence."""
    starts = [sentence.start for sentence in sentences]
    groups: dict[int, list[Dispute]] = {}
    for dispute in found:
        groups.setdefault(bisect_right(starts, dispute.start), []).append(dispute)
    yield from groups.values()


def _window(sentences: Sequence[Sentence], own: list[Dispute]) -> tuple[int, int]:
    """The sentences that the disputes lie in."""
    start, end = min(dispute.start for dispute in own), max(dispute.end for dispute in own)
    touched = [one for one in sentences if one.start < end and start < one.end]
    return min([start, *(one.start for one in touched)]), max([end, *(one.end for one in touched)])


def _words(difference: Difference) -> str:
    first, second = mentions(difference.mistake.gold), mentions(difference.mistake.predicted)
    sides = f"{escaped(difference.first)} {first}, {escaped(difference.second)} {second}"
    return f"<b>{difference.disagreement.value}</b>: {sides}"
