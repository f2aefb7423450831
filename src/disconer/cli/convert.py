"""`disconer convert`: annotated text from any format into any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import progress, report, say_written
from disconer.cli.outputs import named_output
from disconer.core.ledger import Amount, Ledger
from disconer.core.types import Document
from disconer.formats import format_for, format_named, read, sniff, write
from disconer.formats.brat.configuration import copy_configurations, ensure_annotation_conf
from disconer.formats.code_units import Offsets
from disconer.formats.source import Source
from disconer.formats.target import new_folder, refuse_existing

BRAT = "brat"


def convert(
    source: Path,
    target: Path,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    offsets: Offsets = "characters",
    skip_bad: bool = False,
    force: bool = False,
    written: Amount | None = None,
) -> Ledger:
    """Copy every document of `source` to `target`; the ledger counts what was skipped, normalised or lost.

    A brat folder also gets the .conf files of the one that it was made from, or an annotation.conf with its labels.
    offsets: what those of `source` count. written: counts documents and entities.
    """
    ledger = Ledger(skip_bad=skip_bad)
    chosen = format_named(to_format) if to_format else format_for(target)  # report a wrong name before any work
    documents = (written or Amount()).counted(progress(read(source, from_format, ledger, offsets=offsets), "documents"))
    if chosen.name != BRAT:
        write(documents, target, to_format, ledger, force=force)
        return ledger
    refuse_existing(target, force)
    labels: dict[str, None] = {}  # in their order
    with new_folder(target) as staging:
        write(_noting(documents, labels), staging, BRAT, ledger, force=True)
        given = Source(source)
        if (from_format or sniff(given).name) == BRAT:
            copy_configurations(given, staging)
        ensure_annotation_conf(staging, labels)
    return ledger


def _noting(documents: Iterable[Document], labels: dict[str, None]) -> Iterator[Document]:
    for document in documents:
        labels |= dict.fromkeys(entity.label for entity in document.entities)
        yield document


def convert_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File or folder to write; also as -o OUT.")],
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT; taken from its suffix if not given.")
    ] = None,
    offsets: Annotated[
        Offsets, typer.Option(help="What offsets in SRC count: characters, or UTF-16 units, as JavaScript and Java do.")
    ] = "characters",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite OUT.")] = False,
) -> None:
    """Convert annotated text from one format to another; what the new format cannot represent is counted.

    `disconer formats` lists the formats.
    """
    written, out = Amount(), named_output(target)
    ledger = convert(
        source,
        out,
        from_format=from_format,
        to_format=to_format,
        offsets=offsets,
        skip_bad=skip_bad,
        force=force,
        written=written,
    )
    say_written(written, out, to_format or format_for(out).name)
    report(ledger)
