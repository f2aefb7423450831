"""The page of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import BinaryIO

from disconer.core.types import Document, Kind
from disconer.evaluate.evaluation import Evaluation
from disconer.evaluate.measures import Counts, Interval, Unique, unique
from disconer.evaluate.mistakes import ErrorClass
from disconer.evaluate.table import Row, Table, tables
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
from disconer.render.report.sentences import CHUNK, Sentences, wrong_sentences
from disconer.render.stylesheet import escaped, resource, stylesheet, themes

LONG = 40  # characters of a cell above which it is a sentence, and may break into lines
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>disconer: evaluation</title>
<style>
{style}</style>
</head>
<body>
<h1>Evaluation</h1>
<p class="facts">{facts}</p>
"""
_FILTER = """<h2 id="wrong">Wrong sentences: {n_wrong:,}</h2>
<p class="note">Grey: right. − with a hollow bar: gold that was not predicted. + with a dashed bar: predicted,
but not gold.</p>
<noscript><p>Sentences are shown by a script, which this browser does not run.</p></noscript>
<form>
<label for="error">error<select id="error">{errors}</select></label>
<label for="label">label<select id="label">{labels}</select></label>
<label for="kind">kind<select id="kind">{kinds}</select></label>
<button type="button" id="previous">previous</button>
<button type="button" id="next">next</button>
<output id="count"></output>
</form>
<div id="sentences" data-chunk="{chunk}"></div>
"""
_SUMS = """<p class="note">An error counts once for each kind and each label among its entities, so these tables may add
up to more than the table of errors. The number of wrong sentences is smaller: a sentence may have several errors.</p>
"""
_TAIL = """<script>
{hover}</script>
<script>
{page}</script>
</body>
</html>
"""


class Report:
    """Collects the content of the page from a stream of documents, then writes it."""

    def __init__(self) -> None:
        self._sentences = Sentences()
        self._confusion = Confusion()
        self._all, self._discontinuous = Curve(), Curve()

    def add(self, gold: Document, predicted: Document) -> None:
        """Add a pair of documents with the same text."""
        for sentence in wrong_sentences(gold, predicted):
            self._sentences.add(sentence)
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
        self._sentences.write(stream)
        stream.write(_TAIL.format(hover=resource("hover.js"), page=_resource("page.js")).encode())

    def _parts(self, evaluation: Evaluation, facts: Mapping[str, str], epochs: Sequence[Epoch]) -> Iterator[str]:
        listed = " · ".join(f"{escaped(name)} {escaped(value)}" for name, value in facts.items())
        yield _HEAD.format(style=page_style(), facts=listed)
        yield _cards(evaluation)
        curves = {"all entities": self._all, "discontinuous alone": self._discontinuous}
        yield _plots(precision_recall(curves), calibration_plot(evaluation.calibration))
        yield _best_threshold(self._all.best)
        yield _plots(*learning_plots(epochs))
        for table in tables(evaluation):
            yield table_html(table)
        if len(self._sentences):
            yield f"<h2>Errors by kind</h2>\n{_SUMS}{errors_by_kind(self._confusion)}"
            yield f"<h2>Errors by label</h2>\n{errors_by_label(self._confusion, self._sentences.labels())}"
        if confused := labels_confused(self._confusion):
            yield f"<h2>Labels taken for each other</h2>\n{confused}"
        yield _FILTER.format(
            n_wrong=len(self._sentences),
            errors=_options([error.words for error in ErrorClass]),
            labels=_options(self._sentences.labels()),
            kinds=_options([kind.value for kind in Kind]),
            chunk=CHUNK,
        )


def _only_discontinuous(entities: Unique) -> Unique:
    return {key: entity for key, entity in entities.items() if len(entity.fragments) > 1}


def _best_threshold(point: Point | None) -> str:
    if point is None:
        return ""
    words = f"F1 is highest, {100 * point.f1:.1f}, with the predictions that score at least {point.threshold:.2f}."
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


def table_html(table: Table) -> str:
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in table.columns)
    bodies = "\n".join(f"<tbody>\n{_rows(section)}\n</tbody>" for section in table.sections if section)
    note = f'<p class="note">{escaped(table.note)}</p>\n' if table.note else ""
    return (
        f'<h2>{escaped(table.title)}</h2>\n<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"{bodies}\n</table></div>\n{note}"
    )


def _rows(section: Sequence[Row]) -> str:
    return "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in section)


def _cell(text: str) -> str:
    return f"<td{' class=long' if len(text) > LONG else ''}>{escaped(text)}</td>"


def _options(names: Sequence[str]) -> str:
    """Options whose values are the positions of the names."""
    options = "".join(f'<option value="{number}">{escaped(name)}</option>' for number, name in enumerate(names))
    return f'<option value="">any</option>{options}'


def page_style() -> str:
    """The rules of a page, for light and dark themes."""
    return themes(":root") + _resource("page.css") + stylesheet()


def _resource(name: str) -> str:
    return files("disconer.render.report").joinpath(name).read_text("utf-8")
