"""An evaluation as one self-contained HTML page: all figures, and every wrong sentence with its errors marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from disconer.evaluate.evaluation import Evaluation
from disconer.evaluate.table import interval_line, percent, ratios, sections
from disconer.evaluate.wrong import WrongSentence, marked_stretches, wrong_sentences
from disconer.types import Document, Entity


class Page:
    """Collects wrong sentences while documents stream by, then writes the page around them."""

    def __init__(self) -> None:
        self._wrong: list[str] = []

    def add(self, gold: Document, predicted: Document) -> None:
        self._wrong += [_article(sentence) for sentence in wrong_sentences(gold, predicted)]

    def html(self, evaluation: Evaluation) -> str:
        style = files("disconer.evaluate").joinpath("page.css").read_text("utf-8")
        head = f'<meta charset="utf-8"><title>disconer: evaluation</title>\n<style>\n{style}</style>'
        viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
        body = "\n".join(
            [
                "<h1>Evaluation</h1>",
                _figures(evaluation),
                f"<p>{escape(interval_line(evaluation))}</p>",
                "<h2>Errors</h2>",
                _errors(evaluation),
                *_calibration(evaluation),
                f"<h2>Wrong sentences: {len(self._wrong):,}</h2>",
                "<p><mark>right</mark> <mark class='wrong'>wrong</mark></p>",
                *self._wrong,
            ]
        )
        return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}\n{viewport}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _table(columns: Sequence[str], body: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody>\n</table>"


def _row(*cells: object) -> str:
    return "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"


def _figures(evaluation: Evaluation) -> str:
    columns = ("", "P", "R", "F1", "gold", "found", "predicted", "right")
    body = []
    for heading, rows in sections(evaluation):
        if heading:
            body.append(f'<tr><th colspan="{len(columns)}" scope="rowgroup">{escape(heading)}</th></tr>')
        body += [_row(name, *ratios(one), one.gold, one.found, one.predicted, one.right) for name, one in rows]
    return _table(columns, body)


def _errors(evaluation: Evaluation) -> str:
    body = [_row(error.words, one.errors, one.gold, one.predicted) for error, one in evaluation.errors.items()]
    return _table(("class", "times", "gold missed", "predicted wrong"), body)


def _calibration(evaluation: Evaluation) -> list[str]:
    calibration = evaluation.calibration
    if calibration.error is None:
        return []
    body = [
        _row(f"{bin.low:.1f} to {bin.high:.1f}", percent(bin.mean_score), percent(bin.share_right), bin.count)
        for bin in calibration.bins
        if bin.count
    ]
    return [
        "<h2>Calibration</h2>",
        _table(("score", "mean score", "share right", "predictions"), body),
        f"<p>Expected calibration error {percent(calibration.error)}</p>",
    ]


def _article(sentence: WrongSentence) -> str:
    errors = "".join(
        f"<li>{mistake.error.words}: {_mentions(mistake.gold)} → {_mentions(mistake.predicted)}</li>"
        for mistake in sentence.mistakes
    )
    return (
        f"<article><h3>{escape(sentence.document)}, from character {sentence.start}</h3>"
        f"<dl><dt>gold</dt><dd>{_marked(sentence, sentence.gold)}</dd>"
        f"<dt>predicted</dt><dd>{_marked(sentence, sentence.predicted)}</dd></dl><ul>{errors}</ul></article>"
    )


def _mentions(entities: tuple[Entity, ...]) -> str:
    return ", ".join(f"{escape(one.label)} “{escape(one.text)}”" for one in entities) or "nothing"


def _marked(sentence: WrongSentence, entities: tuple[Entity, ...]) -> str:
    parts = []
    for text, labels, wrong in marked_stretches(sentence, entities):
        if labels:
            kind = ' class="wrong"' if wrong else ""
            parts.append(f'<mark{kind} title="{escape(", ".join(labels))}">{escape(text)}</mark>')
        else:
            parts.append(escape(text))
    return "".join(parts)
