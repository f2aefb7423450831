"""An evaluation as one self-contained HTML page: all figures, and every wrong sentence with its errors marked."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from disconer.evaluate.evaluation import Evaluation
from disconer.evaluate.table import Row, Table, tables
from disconer.evaluate.wrong import WrongSentence, marked_stretches, wrong_sentences
from disconer.types import Document, Entity

_PAGE = """<!DOCTYPE html>
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
{tables}
<h2>Wrong sentences: {n_wrong:,}</h2>
<p><mark>right</mark> <mark class="wrong">wrong</mark></p>
{wrong}
</body>
</html>
"""


class Page:
    """Collects wrong sentences while documents stream by, then writes the page around them."""

    def __init__(self) -> None:
        self._wrong: list[str] = []

    def add(self, gold: Document, predicted: Document) -> None:
        self._wrong += [_article(sentence) for sentence in wrong_sentences(gold, predicted)]

    def html(self, evaluation: Evaluation) -> str:
        return _PAGE.format(
            style=files("disconer.evaluate").joinpath("page.css").read_text("utf-8"),
            tables="\n".join(_table(table) for table in tables(evaluation)),
            n_wrong=len(self._wrong),
            wrong="\n".join(self._wrong),
        )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    bodies = "\n".join(f"<tbody>\n{_rows(section)}\n</tbody>" for section in table.sections)
    note = f"\n<p>{escape(table.note)}</p>" if table.note else ""
    return f"<h2>{escape(table.title)}</h2>\n<table>\n<thead><tr>{head}</tr></thead>\n{bodies}\n</table>{note}"


def _rows(section: list[Row]) -> str:
    return "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in section)


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
            style = ' class="wrong"' if wrong else ""
            parts.append(f'<mark{style} title="{escape(", ".join(labels))}">{escape(text)}</mark>')
        else:
            parts.append(escape(text))
    return "".join(parts)
