"""`disconer stats`: statistics of a corpus."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import progress, report, show
from disconer.core.ledger import Ledger
from disconer.core.types import Kind
from disconer.evaluate.stats import Histogram, Stats
from disconer.evaluate.stats import stats as count
from disconer.formats import ALL, read_splits

# Histograms are shown in these bins, both ends included.
_BINS = [*((number, number) for number in range(9)), (9, 10), (11, 12), (13, 16), (17, 32), (33, 10**9)]

Row = list[str]


def stats(source: Path, *, from_format: str | None = None, ledger: Ledger | None = None) -> dict[str, Stats]:
    """The counts of each split of `source`, if it has splits, and last of `all`."""
    by_split = {
        name: count(progress(documents, f"documents, {name}"))
        for name, documents in read_splits(source, from_format, ledger).items()
    }
    if ALL in by_split:
        return by_split
    total = Stats()
    for part in by_split.values():
        total.merge(part)
    return {name: part for name, part in by_split.items() if part.documents} | {ALL: total}


def stats_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
) -> None:
    """Count documents, sentences, tokens and entities: their labels, kinds, fragments, gaps and widths.

    If SRC has files or folders named train, dev and test, each split is also counted separately. Text without
    sentences and tokens is split by rules.
    """
    ledger = Ledger(skip_bad=skip_bad)
    counted = stats(source, from_format=from_format, ledger=ledger)
    if as_json:
        print(json.dumps({name: part.to_dict() for name, part in counted.items()}, ensure_ascii=False, indent=1))
    else:
        show(str(source), ["", *counted], _sections(list(counted.values())))
        show("entities by label", ["", *counted, "%", *Kind], [_label_rows(counted)])
    report(ledger)


def _sections(parts: list[Stats]) -> Iterator[list[Row]]:
    heads = ["sentences_with_heads"] if any(part.sentences_with_heads for part in parts) else []
    names = ("documents", "sentences", *heads, "tokens", "characters", "entities")
    yield [[name.replace("_", " "), *(f"{getattr(part, name):,}" for part in parts)] for name in names]
    yield [
        *([kind.value, *(_share(part, part.kinds[kind]) for part in parts)] for kind in Kind),
        ["across sentences", *(_share(part, part.crossing_sentences) for part in parts)],
    ]
    lengths = [part.sentence_lengths for part in parts]
    yield [
        _heading("tokens per sentence", parts),
        ["  mean", *(f"{length.mean:.1f}" for length in lengths)],
        ["  median", *(f"{length.quantile(0.5):,}" for length in lengths)],
        ["  95 % have at most", *(f"{length.quantile(0.95):,}" for length in lengths)],
        ["  longest", *(f"{length.max:,}" for length in lengths)],
    ]
    yield _bins("fragments per entity", parts, lambda part: part.fragments)
    yield _bins("tokens per fragment", parts, lambda part: part.fragment_widths)
    yield _bins("tokens from first to last of an entity", parts, lambda part: part.entity_widths)
    yield _bins("tokens between fragments", parts, lambda part: part.gaps)


def _bins(title: str, parts: list[Stats], histogram: Callable[[Stats], Histogram]) -> list[Row]:
    rows = [_heading(title, parts)]
    for low, high in _BINS:
        times = [histogram(part).between(low, high) for part in parts]
        if any(times):
            name = str(low) if low == high else f"{low} to {high}" if high < _BINS[-1][1] else f"{low} and more"
            rows.append([f"  {name}", *(f"{number:,}" for number in times)])
    return rows if len(rows) > 1 else []


def _heading(title: str, parts: list[Stats]) -> Row:
    return [title, *("" for _ in parts)]


def _share(part: Stats, number: int) -> str:
    return f"{number:,} ({part.percent(number):.1f} %)"


def _label_rows(counted: dict[str, Stats]) -> Iterator[Row]:
    """The number of each split, and the kinds of all."""
    whole = counted[ALL]
    for label, kinds in sorted(whole.labels.items(), key=lambda item: -item[1].total()):
        numbers = [part.labels.get(label, Counter()).total() for part in counted.values()]
        shares = (f"{kinds[kind]:,} ({100 * kinds[kind] / kinds.total():.1f} %)" for kind in Kind)
        yield [label, *(f"{number:,}" for number in numbers), f"{whole.percent(kinds.total()):.1f}", *shares]
