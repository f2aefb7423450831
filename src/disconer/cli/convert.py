"""`disconer convert`: annotated text from any format into any other."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import progress, report
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import format_for, format_named, read, write


def convert(
    source: Path,
    target: Path,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    skip_bad: bool = False,
    force: bool = False,
    counts: Counter[str] | None = None,
) -> Ledger:
    """Copy every document of `source` to `target`; the ledger counts what was skipped, normalised or lost.

    counts: gets the number of documents and entities.
    """
    ledger = Ledger(skip_bad=skip_bad)
    format_named(to_format) if to_format else format_for(target)  # report a wrong name before any work
    documents = progress(read(source, from_format, ledger), "documents")
    write(_counted(documents, Counter() if counts is None else counts), target, to_format, ledger, force=force)
    return ledger


def _counted(documents: Iterable[Document], counts: Counter[str]) -> Iterator[Document]:
    for document in documents:
        counts["documents"] += 1
        counts["entities"] += len(document.entities)
        yield document


def convert_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File or folder to write; also as -o OUT.")],
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT; taken from its suffix if not given.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite OUT.")] = False,
) -> None:
    """Convert annotated text from one format to another; what the new format cannot represent is counted.

    `disconer formats` lists the formats.
    """
    counts: Counter[str] = Counter()
    ledger = convert(
        source, target, from_format=from_format, to_format=to_format, skip_bad=skip_bad, force=force, counts=counts
    )
    name = to_format or format_for(target).name
    counted = f"{counts['documents']:,} documents with {counts['entities']:,} entities"
    print(f"written: {counted} as {name} in {target}", file=sys.stderr)
    report(ledger)
