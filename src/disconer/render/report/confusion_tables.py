"""Errors by kind and label as tables, the darker the more; a cell shows its sentences when it is pressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from disconer.core.types import Kind
from disconer.evaluate.mistakes import ErrorClass
from disconer.render.escape import escaped
from disconer.render.report.confusion import Confusion

MAX_LABELS, MAX_PAIRS = 40, 15  # rows of the tables; what follows is only counted


def errors_by_kind(confusion: Confusion) -> str:
    names = [(kind.value, number) for number, kind in enumerate(Kind)]
    counts = {(error, kind.value): count for (error, kind), count in confusion.by_kind.items()}
    return _matrix(names, counts, "kind")


def errors_by_label(confusion: Confusion, numbers: Sequence[str]) -> str:
    """numbers: the labels in the order of their numbers on the page."""
    totals: Counter[str] = Counter()
    for (_, label), count in confusion.by_label.items():
        totals[label] += count
    names = [(label, numbers.index(label)) for label, _ in totals.most_common(MAX_LABELS)]
    return _matrix(names, confusion.by_label, "label") + _rest(len(totals) - MAX_LABELS)


def labels_confused(confusion: Confusion) -> str:
    """Which label was predicted where another is right."""
    rows = "\n".join(
        f"<tr><td>{escaped(gold)}</td><td>{escaped(predicted)}</td><td>{count:,}</td></tr>"
        for (gold, predicted), count in confusion.labels.most_common(MAX_PAIRS)
    )
    head = '<tr><th scope="col">gold</th><th scope="col">predicted instead</th><th scope="col">times</th></tr>'
    table = f'<table class="names"><thead>{head}</thead>\n<tbody>\n{rows}\n</tbody></table>'
    return f'<div class="wide">{table}</div>\n{_rest(len(confusion.labels) - MAX_PAIRS)}' if rows else ""


def _matrix(names: Sequence[tuple[str, int]], counts: Mapping[tuple[ErrorClass, str], int], filter: str) -> str:
    """A row for each name, a column for each error class. The numbers are the values of the page's `filter`."""
    most = max(counts.values(), default=1)
    head = "".join(f'<th scope="col">{error.words}</th>' for error in ErrorClass)
    rows = []
    for name, number in names:
        cells = "".join(
            _cell(counts.get((error, name), 0), most, f'data-error="{place}" data-{filter}="{number}"')
            for place, error in enumerate(ErrorClass)
        )
        rows.append(f'<tr><th scope="row">{escaped(name)}</th>{cells}</tr>')
    table = f'<table class="heat"><thead><tr><td></td>{head}</tr></thead>\n<tbody>\n{"".join(rows)}\n</tbody></table>'
    return f'<div class="wide">{table}</div>\n'


def _cell(count: int, most: int, filters: str) -> str:
    if not count:
        return "<td></td>"
    return f'<td style="--share: {count / most:.2f}"><button type="button" {filters}>{count:,}</button></td>'


def _rest(n_hidden: int) -> str:
    return f'<p class="note">and {n_hidden:,} more</p>\n' if n_hidden > 0 else ""
