"""Errors by label and kind, as tables whose cells show their sentences when clicked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from disconer.core.types import Kind
from disconer.evaluate.mistakes import ErrorClass, Mistake
from disconer.render.escape import escaped


class Confusion:
    """Counts errors. An error counts once for each label and each kind among its entities."""

    def __init__(self) -> None:
        self.by_label: Counter[tuple[ErrorClass, str]] = Counter()
        self.by_kind: Counter[tuple[ErrorClass, Kind]] = Counter()
        self.labels: Counter[tuple[str, str]] = Counter()  # gold, predicted

    def add(self, found: Iterable[Mistake]) -> None:
        for mistake in found:
            self.by_label.update((mistake.error, label) for label in labels_of(mistake))
            self.by_kind.update((mistake.error, kind) for kind in kinds_of(mistake))
            if mistake.error is ErrorClass.WRONG_TYPE:
                self.labels[mistake.gold[0].label, mistake.predicted[0].label] += 1


def labels_of(mistake: Mistake) -> list[str]:
    return sorted({entity.label for entity in mistake.gold + mistake.predicted})


def kinds_of(mistake: Mistake) -> list[Kind]:
    present = {entity.kind for entity in mistake.gold + mistake.predicted}
    return [kind for kind in Kind if kind in present]


MAX_LABELS, MAX_PAIRS = 40, 15  # rows of the tables; the rest is only counted


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
    """Which label was predicted instead of which."""
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
