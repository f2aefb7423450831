"""The page of an evaluation: figures, tables, plots, and every wrong sentence, found and drawn as documents arrive."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from disconer.core.types import Document, Entity
from disconer.evaluate.evaluation import Evaluation
from disconer.evaluate.measures import Counts, Interval, Key, Unique, unique
from disconer.evaluate.mistakes import ErrorClass, Mistake, Nearby, mistakes
from disconer.evaluate.table import tables
from disconer.render.html import document_html
from disconer.render.marks import Mark, Standing
from disconer.render.report.figures import (
    Confusion,
    Curve,
    Epoch,
    Point,
    calibration_plot,
    errors_by_kind,
    errors_by_label,
    labels_confused,
    learning_plots,
    precision_recall,
)
from disconer.render.report.parts import Articles, chooser, head, mentions, place_line, table_html, tail
from disconer.render.stylesheet import Palette
from disconer.text import segment

_SUMS = """<p class="note">An error counts once for each kind and each label among its entities, so these tables may add
up to more than the table of errors. The number of wrong sentences is smaller: a sentence may have several errors.</p>
"""
_LEGEND = """Grey: right. − with a hollow bar: gold that was not predicted. + with a dashed bar: predicted,
but not gold."""
_ERRORS = {error: number for number, error in enumerate(ErrorClass)}


class Report:
    """Collects the content of the page from a stream of documents, then writes it."""

    def __init__(self) -> None:
        self._articles = Articles()
        self._palette = Palette()
        self._confusion = Confusion()
        self._all, self._discontinuous = Curve(), Curve()

    def add(self, gold: Document, predicted: Document) -> None:
        """Add a pair of documents with the same text."""
        for sentence in wrong_sentences(gold, predicted):
            facts = [(_ERRORS[mistake.error], mistake.gold + mistake.predicted) for mistake in sentence.mistakes]
            self._articles.add(article(sentence, self._palette), facts)
            self._confusion.add(sentence.mistakes)
        ours, theirs = unique(gold), unique(predicted)
        self._all.add(ours, theirs)
        self._discontinuous.add(_only_discontinuous(ours), _only_discontinuous(theirs))

    def write(
        self, stream: BinaryIO, evaluation: Evaluation, *, facts: Mapping[str, str], epochs: Sequence[Epoch] = ()
    ) -> None:
        """Write the page.

        evaluation: of the same documents.
        facts: what was compared, shown at the top.
        epochs: of the training run, if it is known.
        """
        for part in self._parts(evaluation, facts, epochs):
            stream.write(part.encode())
        self._articles.write(stream)
        stream.write(tail().encode())

    def _parts(self, evaluation: Evaluation, facts: Mapping[str, str], epochs: Sequence[Epoch]) -> Iterator[str]:
        yield head("Evaluation", facts)
        yield _cards(evaluation)
        curves = {"all entities": self._all, "discontinuous alone": self._discontinuous}
        yield _plots(precision_recall(curves), calibration_plot(evaluation.calibration))
        yield _best_threshold(self._all.best)
        yield _plots(*learning_plots(epochs))
        for table in tables(evaluation):
            yield table_html(table)
        if len(self._articles):
            yield f"<h2>Errors by kind</h2>\n{_SUMS}{errors_by_kind(self._confusion)}"
            yield f"<h2>Errors by label</h2>\n{errors_by_label(self._confusion, self._articles.labels())}"
        if confused := labels_confused(self._confusion):
            yield f"<h2>Labels taken for each other</h2>\n{confused}"
        yield chooser("Wrong sentences", _LEGEND, "error", [error.words for error in ErrorClass], self._articles)


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


def _words(mistake: Mistake) -> str:
    return f"<b>{mistake.error.words}</b>: {mentions(mistake.gold)} → {mentions(mistake.predicted)}"


def _only_discontinuous(entities: Unique) -> Unique:
    return {key: entity for key, entity in entities.items() if len(entity.fragments) > 1}


def _best_threshold(point: Point | None) -> str:
    if point is None:
        return ""
    words = f"F1 is highest, {100 * point.f1:.1f}, with the predictions that score at least {point.shown}."
    return f'<p class="note">{words}</p>\n'


def _cards(evaluation: Evaluation) -> str:
    cards = [
        _card("F1", evaluation.overall.f1, evaluation.overall, evaluation.overall_interval()),
        _card("precision", evaluation.overall.precision, evaluation.overall),
        _card("recall", evaluation.overall.recall, evaluation.overall),
        _card("F1, discontinuous alone", evaluation.discontinuous.f1, evaluation.discontinuous),
    ]
    return f'<ul class="cards">\n{"".join(cards)}</ul>\n'


def _card(name: str, figure: float, counts: Counts, interval: Interval | None = None) -> str:
    shown = "–" if counts.is_empty else f"{100 * figure:.1f}"
    between = f", 95 % interval {100 * interval.low:.1f} to {100 * interval.high:.1f}" if interval else ""
    return f"<li><b>{shown}</b><span>{name}{between}</span></li>\n"


def _plots(*plots: str) -> str:
    shown = "\n".join(filter(None, plots))
    return f'<div class="plots">\n{shown}\n</div>\n' if shown else ""
