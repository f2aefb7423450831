"""`disconer render`: draw annotated text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from disconer.cli.console import progress, report, say_written
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Amount, Ledger
from disconer.core.types import Document
from disconer.formats import read
from disconer.formats.target import new_file, refuse_existing

SUFFIXES: dict[str, Literal["html", "svg"]] = {".html": "html", ".htm": "html", ".svg": "svg"}


def render_files(
    source: Path,
    *,
    target: Path | None = None,
    from_format: str | None = None,
    gold: Path | None = None,
    gold_format: str | None = None,
    arcs: bool = False,
    force: bool = False,
    ledger: Ledger | None = None,
    drawn: Amount | None = None,
) -> None:
    """Draw all documents of `source` as one HTML page, or as SVG if the target has that suffix.

    target: None for stdout.
    gold: documents to compare with, matched by id.
    drawn: counts documents and entities.
    """
    format = _format(target)
    if target:
        refuse_existing(target, force)
    documents: Iterable[Document] = progress(read(source, from_format, ledger), "documents")
    documents = (drawn or Amount()).counted(documents)
    if arcs:
        documents = _with_heads(documents, source)
    parts = _parts(documents, read(gold, gold_format, ledger) if gold else None, format, arcs)
    if target is None:
        for part in parts:
            sys.stdout.write(part)
        return
    with new_file(target) as stream:
        for part in parts:
            stream.write(part.encode())


def _format(target: Path | None) -> Literal["html", "svg"]:
    if target is None:
        return "html"
    if target.suffix.lower() not in SUFFIXES:
        raise DisconerError("Unknown output suffix", where=Where(str(target)), fix="Use .html or .svg.")
    return SUFFIXES[target.suffix.lower()]


def _parts(
    documents: Iterable[Document], gold: Iterable[Document] | None, format: Literal["html", "svg"], arcs: bool
) -> Iterable[str]:
    from disconer.render import render, render_page  # only here, so that --help is fast

    if format == "svg":
        return [render(documents, gold, format="svg", arcs=arcs)]
    return render_page(documents, gold, arcs=arcs)


def _with_heads(documents: Iterable[Document], source: Path) -> Iterator[Document]:
    """Pass documents through; it is an error if none of their sentences has heads: there are no arcs to draw."""
    found = False
    for document in documents:
        found = found or any(sentence.heads is not None for sentence in document.sentences or ())
        yield document
    if not found:
        raise DisconerError(
            "There are no dependencies to draw: no sentence has heads",
            where=Where(str(source)),
            fix="Omit --arcs, or give parsed text (CoNLL-U, DyGIE++, or JSONL with heads).",
        )


def render_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Annotated documents: file, folder, .zip or .gz.")],
    target: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", "--output", metavar="FILE", help="FILE.html or FILE.svg; HTML to stdout if not given."
        ),
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    gold: Annotated[
        Path | None, typer.Option("--gold", metavar="GOLD", help="Compare SRC with these documents, matched by id.")
    ] = None,
    gold_format: Annotated[
        str | None, typer.Option("--gold-from", help="Format of GOLD; detected if not given.")
    ] = None,
    arcs: Annotated[bool, typer.Option("--arcs", help="Also draw dependency arcs of parsed sentences.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite FILE.")] = False,
) -> None:
    """Draw annotated text as HTML or SVG, with every entity in a lane under the text."""
    ledger, drawn = Ledger(skip_bad=skip_bad), Amount()
    render_files(
        source,
        target=target,
        from_format=from_format,
        gold=gold,
        gold_format=gold_format,
        arcs=arcs,
        force=force,
        ledger=ledger,
        drawn=drawn,
    )
    if target:
        say_written(drawn, target, _format(target))
    if not drawn.entities and not gold and not arcs:
        print("note: there are no entities to draw; `disconer predict` finds some in texts", file=sys.stderr)
    report(ledger)
