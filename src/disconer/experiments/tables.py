"""A comparison as tables of strings, for Markdown, LaTeX, the page and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from disconer.core.types import Kind
from disconer.evaluate.bootstrap import Difference
from disconer.evaluate.entity_lists import GAPS, LENGTHS
from disconer.evaluate.table import NONE, Row, Table
from disconer.experiments.figures import (
    GAP,
    KIND,
    LABEL,
    LENGTH,
    OVERALL,
    PART,
    PARTS,
    Cell,
    Comparison,
    Measure,
)
from disconer.experiments.results import SPLITS, Place

DEVIATIONS = "F1 in per cent, strict; mean ± standard deviation over runs (seeds)."
SMALLEST_P = 0.002  # of 1,000 resamples


def tables(comparison: Comparison) -> Iterator[Table]:
    """All tables of a report; those that have nothing to say are left out."""
    yield overview(comparison)
    if len(comparison.corpora) > 1:
        yield _matrix(comparison)
    yield from _learning(comparison)
    for corpus in comparison.corpora:
        cells = whole(comparison.of(corpus))
        split = split_of(cells)
        if split is None:
            continue
        yield from _grouped(corpus, cells, split, LABEL, "label", _labels(cells, split))
        yield from _grouped(corpus, cells, split, LENGTH, "length of the entity in words", LENGTHS)
        yield from _grouped(corpus, cells, split, GAP, "words in the gaps of discontinuous entities", GAPS)
        yield from _differences(comparison, corpus, split)
    yield speed_table(comparison)


def summary(comparison: Comparison) -> Table:
    """The first table with fewer columns, for a terminal; see `failures` for what failed."""
    table = overview(comparison)
    shown = [table.columns.index(name) for name in ("", "runs", "dev F1", "F1", *(kind.value for kind in Kind))]
    sections = [[tuple(row[place] for place in shown) for row in section] for section in table.sections]
    return Table(table.title, tuple(table.columns[place] for place in shown), sections, table.note)


def failures(comparison: Comparison) -> Iterator[str]:
    """A line for each cell in which runs failed."""
    for cell in comparison.cells:
        if cell.failures:
            yield f"{cell.place.corpus}: {cell.place.name} failed: {'; '.join(_counted(cell.failures))}"


def overview(comparison: Comparison) -> Table:
    """A row per cell, corpus by corpus."""
    columns = ("", "runs", "dev F1", "precision", "recall", "F1", *(kind.value for kind in Kind), *PARTS.values())
    failed = any(cell.failures for cell in comparison.cells)
    sections = [[_overview_row(cell, failed) for cell in comparison.of(corpus)] for corpus in comparison.corpora]
    left_out = f" Incomplete runs left out: {comparison.n_incomplete}." if comparison.n_incomplete else ""
    note = f"{DEVIATIONS} After dev F1, all columns are of test, or of dev where there is no test data.{left_out}"
    note += "".join(f" {sentence}" for sentence in (*_incomparable(comparison), *_repeated(comparison)))
    return Table("Results", (*columns, "failed") if failed else columns, sections, note)


def _incomparable(comparison: Comparison) -> Iterator[str]:
    """A sentence for each corpus on which not all systems were measured on the same gold entities."""
    for corpus, groups in comparison.by_gold.items():
        named = "; ".join(", ".join(group) for group in groups)
        yield f"Not comparable on {corpus}, as their gold entities differ (data.labels, for example): {named}."


def _repeated(comparison: Comparison) -> Iterator[str]:
    """A sentence for each cell with runs of the same seed, which may even be copies."""
    for cell in comparison.cells:
        if repeated := [str(seed) for seed, n_runs in Counter(cell.seeds).items() if n_runs > 1]:
            runs = f"Several runs of {cell.place.corpus}: {cell.place.name}"
            yield f"{runs} have the same seed ({', '.join(repeated)}): their deviation is not over seeds."


def _overview_row(cell: Cell, failed: bool) -> Row:
    split = split_of([cell])
    shown = [_shown(cell, Measure("dev", OVERALL, "all"))]
    for metric in ("precision", "recall", "f1"):
        shown.append(_shown(cell, Measure(split or "", OVERALL, "all", metric)))
    shown += [_shown(cell, Measure(split or "", KIND, kind.value)) for kind in Kind]
    shown += [_shown(cell, Measure(split or "", PART, name)) for name in PARTS.values()]
    reasons = "; ".join(_counted(cell.failures))
    return (f"{cell.place.corpus}: {cell.place.name}", str(cell.n_runs), *shown, *([reasons] if failed else []))


def _counted(reasons: Sequence[str]) -> list[str]:
    """
    >>> _counted(["no such file", "no such file", "out of memory"])
    ['no such file (2 runs)', 'out of memory']
    """
    return [
        f"{reason} ({reasons.count(reason)} runs)" if reasons.count(reason) > 1 else reason
        for reason in dict.fromkeys(reasons)
    ]


def _shown(cell: Cell, measure: Measure) -> str:
    found = cell.figures.get(measure)
    return NONE if found is None else str(found)


def split_of(cells: Sequence[Cell]) -> str | None:
    """Test if all cells that have figures have it, else dev."""
    measured = [{measure.split for measure in cell.figures} for cell in cells if cell.figures]
    return next((split for split in SPLITS if measured and all(split in one for one in measured)), None)


def whole(cells: Sequence[Cell]) -> list[Cell]:
    """Those trained on all data; if there are none, those of the largest share."""
    most = max((cell.place.share for cell in cells), default=1)
    return [cell for cell in cells if cell.place.share == most]


def _matrix(comparison: Comparison) -> Table:
    """Systems by corpora: F1, discontinuous entities alone in brackets."""
    systems = list(dict.fromkeys(cell.place.system for cell in comparison.cells))
    columns = [{cell.place.system: cell for cell in whole(comparison.of(corpus))} for corpus in comparison.corpora]
    rows = [(system, *(_pair(column.get(system)) for column in columns)) for system in systems]
    note = f"{DEVIATIONS} In brackets, discontinuous entities alone. On test, or on dev where there is no test data."
    return Table("Systems by corpora", ("", *comparison.corpora), [rows], note)


def _pair(cell: Cell | None) -> str:
    split = None if cell is None else split_of([cell])
    if cell is None or split is None:
        return NONE
    alone = cell.figures.get(Measure(split, KIND, Kind.DISCONTINUOUS.value))
    return _shown(cell, Measure(split, OVERALL, "all")) + ("" if alone is None else f" ({alone})")


def _learning(comparison: Comparison) -> Iterator[Table]:
    """F1 by share of the training data, where a system has several."""
    shares = sorted({cell.place.share for cell in comparison.cells})
    if len(shares) < 2:
        return
    rows = []
    for corpus in comparison.corpora:
        for system in dict.fromkeys(cell.place.system for cell in comparison.of(corpus)):
            found = {cell.place.share: cell for cell in comparison.of(corpus) if cell.place.system == system}
            if len(found) > 1:
                rows.append((f"{corpus}: {system}", *(_pair(found.get(share)) for share in shares)))
    columns = ("", *(f"{100 * share:g} %" for share in shares))
    note = f"{DEVIATIONS} In brackets, discontinuous entities alone. Each seed draws other documents."
    yield Table("Share of the training data", columns, [rows], note)


def _labels(cells: Sequence[Cell], split: str) -> list[str]:
    return sorted({measure.name for cell in cells for measure in cell.figures if measure[:2] == (split, LABEL)})


def _grouped(
    corpus: str, cells: Sequence[Cell], split: str, group: str, title: str, names: Sequence[str]
) -> Iterator[Table]:
    """A row per name that any cell has a figure of, a column per system."""
    own = [cell for cell in cells if cell.figures]
    rows = [(name, *(_shown(cell, Measure(split, group, name)) for cell in own)) for name in names]
    rows = [row for row in rows if any(cell != NONE for cell in row[1:])]
    if rows:
        yield Table(
            f"{corpus}: by {title}", ("", *(cell.place.system for cell in own)), [rows], f"{DEVIATIONS} On {split}."
        )


def _differences(comparison: Comparison, corpus: str, split: str) -> Iterator[Table]:
    """A matrix of systems: row minus column."""
    share = max(cell.place.share for cell in comparison.of(corpus))
    pairs = [
        pair for pair in comparison.compared if (pair.one.corpus, pair.one.share, pair.split) == (corpus, share, split)
    ]
    if not pairs:
        return
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.one.system, pair.other.system)))
    note = (
        f"F1 of the row minus F1 of the column, on {split}; in brackets, p of a paired bootstrap over documents (1,000 "
        "resamples, runs of a system pooled)."
    )
    yield _square(f"{corpus}: differences, all entities", names, [(*pair[:2], pair.overall) for pair in pairs], note)
    alone = [(*pair[:2], pair.discontinuous) for pair in pairs]
    yield _square(f"{corpus}: differences, discontinuous entities alone", names, alone, note)


def _square(title: str, names: list[str], pairs: list[tuple[Place, Place, Difference]], note: str) -> Table:
    found: dict[tuple[str, str], str] = {}
    for one, other, difference in pairs:
        found[one.system, other.system] = _difference(difference, 1)
        found[other.system, one.system] = _difference(difference, -1)
    rows = [(name, *(found.get((name, other), NONE) for other in names)) for name in names]
    return Table(title, ("", *names), [rows], note)


def _difference(found: Difference, sign: int) -> str:
    p = f"p < {SMALLEST_P}" if found.p < SMALLEST_P else f"p {found.p:.3f}"
    return f"{100 * sign * found.f1:+.1f} ({p})"


def speed_table(comparison: Comparison) -> Table:
    columns = ("", "parameters", "MB", "training, s per epoch", "best epoch", "sentences per second", "device")
    sections: list[list[Row]] = []
    for corpus in comparison.corpora:
        sections.append([_speed_row(cell) for cell in comparison.of(corpus) if cell.n_runs])
    note = "Medians over runs. Times depend on the machine, and on what ran beside them."
    return Table("Speed and size", columns, sections, note)


def _speed_row(cell: Cell) -> Row:
    speed = cell.speed
    return (
        f"{cell.place.corpus}: {cell.place.name}",
        NONE if speed.n_parameters is None else f"{speed.n_parameters / 1e6:.1f} M",
        _number(speed.megabytes),
        _number(speed.train_seconds),
        _number(speed.best_epoch),
        NONE if speed.per_second is None else f"{speed.per_second:,.0f}",
        speed.device or NONE,
    )


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.1f}"
