"""The parts that reports share: the head of a page, tables, and articles to choose by class, label and kind.

An article is a sentence. The page shows a few at a time. They are stored in it as JSON, which the browser parses only
when needed: a hundred thousand sentences as elements would take minutes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import BinaryIO

from disconer.core.types import Entity, Kind
from disconer.evaluate.table import Row, Table
from disconer.render.marks import Mark
from disconer.render.stylesheet import escaped, resource, stylesheet, themes

LONG = 40  # characters of a cell above which it is a sentence, and may break into lines
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>disconer: {title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{heading}</h1>
<p class="facts">{facts}</p>
"""
_FILTER = """<h2 id="wrong">{heading}: {n_articles:,}</h2>
<p class="note">{legend}</p>
<noscript><p>Sentences are shown by a script, which this browser does not run.</p></noscript>
<form>
<label for="error">{what}<select id="error">{errors}</select></label>
<label for="label">label<select id="label">{labels}</select></label>
<label for="kind">kind<select id="kind">{kinds}</select></label>
<button type="button" id="previous">previous</button>
<button type="button" id="next">next</button>
<output id="count"></output>
</form>
<div id="sentences" data-chunk="{chunk}"></div>
"""
_TAIL = """<script>
{hover}</script>
<script>
{page}</script>
</body>
</html>
"""


def head(heading: str, facts: Mapping[str, str], *, style: str = "") -> str:
    """The start of a page, up to the line that says what it is about. style: further rules."""
    listed = " · ".join(f"{escaped(name)} {escaped(value)}" for name, value in facts.items())
    return _HEAD.format(
        title=escaped(heading.lower()), heading=escaped(heading), style=_page_style() + style, facts=listed
    )


def _page_style() -> str:
    """The rules of a page, for light and dark themes."""
    return themes(":root") + _resource("page.css") + stylesheet()


def tail() -> str:
    """The end of a page; the articles come before it."""
    return _TAIL.format(hover=resource("hover.js"), page=_resource("page.js"))


def chooser(heading: str, legend: str, what: str, classes: Sequence[str], articles: Articles) -> str:
    """The form that chooses articles. Their facts hold positions in `classes`, which are classes of `what`."""
    return _FILTER.format(
        heading=heading,
        legend=legend,
        what=what,
        n_articles=len(articles),
        errors=_options(classes),
        labels=_options(articles.labels()),
        kinds=_options([kind.value for kind in Kind]),
        chunk=CHUNK,
    )


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


def _resource(name: str) -> str:
    return files("disconer.render.report").joinpath(name).read_text("utf-8")


CHUNK = 100  # articles that are read together

Fact = tuple[int, Iterable[Entity]]  # the number of a class of errors, and the entities concerned
_KINDS = {kind: number for number, kind in enumerate(Kind)}


class Articles:
    """Collects articles, compressed, each with the values of the page's filters, and writes them into a page."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._waiting: list[str] = []
        self._labels: dict[str, int] = {}
        self._facts: list[str] = []

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, html: str, facts: Iterable[Fact]) -> None:
        self._waiting.append(html)
        self._facts.append(_json([[error, *self._numbers(entities)] for error, entities in facts]))
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

    def _numbers(self, entities: Iterable[Entity]) -> tuple[list[int], list[int]]:
        """The numbers of the labels and of the kinds."""
        entities = tuple(entities)
        labels = sorted({entity.label for entity in entities})
        kinds = {entity.kind for entity in entities}
        return (
            [self._labels.setdefault(label, len(self._labels)) for label in labels],
            [number for kind, number in _KINDS.items() if kind in kinds],
        )


def _json(value: object) -> str:
    """JSON that is safe inside an element: it contains no `<`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def place_line(document: str, start: int, end: int) -> str:
    """Where a sentence is."""
    return f"<h3>{escaped(document)}, characters {start:,} to {end:,}</h3>"


def mentions(entities: tuple[Entity, ...]) -> str:
    return ", ".join(f"{escaped(one.label)} “{escaped(Mark(one).quoted)}”" for one in entities) or "nothing"
