"""`disconer check`: errors and warnings of a corpus, and the best F1 that a model can reach on it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import progress, show
from disconer.core.errors import BadInput, DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Kind
from disconer.formats import read

if TYPE_CHECKING:
    from disconer.evaluate.check import Check  # loaded when the command runs, so that --help is fast
    from disconer.evaluate.measures import Counts


def check_source(source: Path, *, from_format: str | None = None, widths: Iterable[int] = range(6, 17)) -> Check:
    """Check every document of `source`; errors are counted, not raised."""
    from disconer.evaluate.check import check
    from disconer.nn.heads.span.oracle import Ceiling

    ledger = Ledger(skip_bad=True)
    documents: Iterable[Document] = ()
    try:
        documents = progress(read(source, from_format, ledger), "documents")
    except BadInput as error:  # the whole archive or file is unreadable
        ledger.fault(error)
    return check(documents, Ceiling(widths), ledger)


def check_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    widths: Annotated[str, typer.Option("--widths", help="Width limits of the oracle in tokens: 6-16, or 8.")] = "6-16",
) -> None:
    """Check a corpus for errors, and compute the best F1 that a span model can reach on it.

    Errors make an entity or document unusable: offsets past the end, text that does not match, broken files. Warnings
    are entities that can be used but look wrong. The oracle encodes the gold entities as training targets and decodes
    them again, for each limit on the width of a fragment: no model with that limit can do better.

    The exit code is 1 if there are errors, else 0.
    """
    account = check_source(source, from_format=from_format, widths=_range(widths))
    if as_json:
        print(json.dumps(account.to_dict(), ensure_ascii=False, indent=1))
    else:
        _print(source, account)
    if account.has_faults:
        raise typer.Exit(1)


def _range(widths: str) -> range:
    match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", widths)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 0 < low <= high:
        raise DisconerError("--widths takes one or two numbers", got=repr(widths), expected="for example 6-16, or 8")
    return range(low, high + 1)


def _print(source: Path, account: Check) -> None:
    sections = [
        [["documents", f"{account.documents:,}"], ["entities", f"{account.entities:,}"], *_head_rows(account)],
        _count_rows("errors", account.ledger.faults),
        _count_rows("normalised on reading", account.ledger.repairs),
        _count_rows("warnings: an entity", account.oddities),
    ]
    show(str(source), ["", "count"], sections)
    for example in account.examples:
        print(f"{example.problem}: {example.message}" if example.problem in account.ledger.faults else example.message)
    if account.entities:
        print()
        columns = ["max width (tokens)", "precision", "recall", "F1", *(f"{kind} F1" for kind in Kind), "too wide"]
        show("oracle: the best that a span model can reach", columns, [_oracle_rows(account)])
        print(f"Cliques that are not entities: {account.ceiling.extra:,}.")


def _head_rows(account: Check) -> Iterator[list[str]]:
    """How many sentences have dependency heads, if any do."""
    if account.sentences_with_heads:
        yield ["sentences with heads", f"{account.sentences_with_heads:,} of {account.sentences:,}"]


def _count_rows(title: str, counts: Counter[str]) -> list[list[str]]:
    if not counts:
        return [[f"{title}: none", ""]]
    return [[title, ""], *([f"  {what}", f"{times:,}"] for what, times in counts.most_common())]


def _oracle_rows(account: Check) -> Iterator[list[str]]:
    ceiling = account.ceiling
    for width in ceiling.widths:
        total, kinds = ceiling.total(width), ceiling.counts[width]
        yield [
            "no limit" if width is None else str(width),
            *(f"{100 * value:.2f}" for value in (total.precision, total.recall, total.f1)),
            *(_f1(kinds.get(kind)) for kind in Kind),
            f"{ceiling.too_wide[width]:,}",
        ]


def _f1(counts: Counts | None) -> str:
    return f"{100 * counts.f1:.2f}" if counts else "-"
