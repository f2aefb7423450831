"""`disconer agree`: how far annotators agree, and where they do not."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.annotate import annotate_cli
from disconer.cli.console import progress, report, show
from disconer.core.counting import counted
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.core.version import __version__
from disconer.formats import format_named, note_unread, read, sniff
from disconer.formats.source import Source
from disconer.formats.target import new_file, refuse_existing

if TYPE_CHECKING:
    from disconer.evaluate.annotators.adjudication import Adjudicated
    from disconer.evaluate.annotators.agreement import Agreement  # loaded when the command runs, so that --help is fast

NOT_ANNOTATED = "texts without an .ann, not annotated by"


def agree(
    sources: Mapping[str, Path],
    *,
    from_format: str | None = None,
    html: Path | None = None,
    adjudicate: Path | None = None,
    force: bool = False,
    ledger: Ledger | None = None,
) -> tuple[Agreement, Adjudicated | None]:
    """The agreement of annotators.

    sources: the path of each annotator's documents, by name.
    html: file for a page with all figures and every disagreement.
    adjudicate: folder for the entities that all agree on, with the disputes alongside.
    """
    from disconer.evaluate.annotators import adjudication
    from disconer.evaluate.annotators.agreement import Agreement, by_document
    from disconer.render.report import AgreementReport

    for path in filter(None, (html, adjudicate)):
        refuse_existing(path, force)
    ledger = ledger or Ledger()
    read_of = {name: _read(name, path, from_format, ledger) for name, path in sources.items()}
    _warn_of_nothing(read_of, sources)
    every = list(by_document(read_of))
    agreement = Agreement(sources)
    page = AgreementReport()
    for versions in every:
        agreement.add(versions)
        if html:
            page.add(versions)
    if html:
        facts = {name: str(path) for name, path in sources.items()} | {"disconer": __version__}
        with new_file(html) as stream:
            page.write(stream, agreement, facts)
    return agreement, adjudication.adjudicate(every, adjudicate, ledger) if adjudicate else None


def _read(name: str, path: Path, from_format: str | None, ledger: Ledger) -> list[Document]:
    """An annotator's documents. In brat, a text without an .ann is one that the annotator has not done."""
    source = Source(path)
    format = format_named(from_format) if from_format else sniff(source)
    if from_format is None:
        note_unread(source, format, ledger)
    if format.name == "text":
        raise DisconerError(
            f"There are no annotations by {name} here, only texts",
            where=Where(str(path)),
            expected="an annotator's work: .ann files next to .txt files, or another format with entities",
            fix="Leave this annotator out, or name the folder or file with the annotations.",
        )
    if format.name == "brat":
        annotated = {member.stem for member in source if member.suffix in format.suffixes}
        done = [member for member in source if member.suffix != ".txt" or member.stem in annotated]
        ledger.lost(f"{NOT_ANNOTATED} {name}", len(source.members) - len(done))
        source = source.only(done)
    return list(progress(read(source, format.name, ledger), f"documents, {name}"))


def _warn_of_nothing(made: Mapping[str, Sequence[Document]], sources: Mapping[str, Path]) -> None:
    """Warn of annotators without any entity, perhaps due to a wrong path: every figure with them is 0."""
    for name, documents in made.items():
        if not any(document.entities for document in documents):
            number = counted(len(documents), "documents")
            print(
                f"warning: {sources[name]} has no entities in {number}: all others' entities count as missed by {name}",
                file=sys.stderr,
            )


def annotator_names(paths: Sequence[Path], given: str | None) -> list[str]:
    """A name for each path: those given, or the last part of each that differs from the others."""
    names = _names_of(paths) if given is None else [name.strip() for name in given.split(",")]
    if len(names) != len(paths) or len(set(names)) < len(names) or not all(names):
        raise DisconerError(
            "Each annotator needs a name of their own",
            got=", ".join(names) if given is None else repr(given),
            expected=f"{len(paths)} different names",
            fix="Name them in the order of the paths: --names anna,ben.",
        )
    return names


def _names_of(paths: Sequence[Path]) -> list[str]:
    """anna/notes and ben/notes are anna and ben; anna.jsonl and ben.jsonl, too."""
    parts = [path.resolve().parts for path in paths]
    for number in range(1, min(map(len, parts))):
        names = [own[-number].split(".")[0] if number == 1 else own[-number] for own in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def agree_cli(
    sources: Annotated[
        list[Path], typer.Argument(metavar="A B", help="Annotations of each annotator: file, folder, .zip or .gz.")
    ],
    names: Annotated[
        str | None, typer.Option("--names", metavar="A,B,…", help="Names of the annotators; default: from the paths.")
    ] = None,
    from_format: Annotated[
        str | None, typer.Option("--from", help="Format of all inputs; detected if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write an HTML page with every disagreement side by side."),
    ] = None,
    adjudicate: Annotated[
        Path | None,
        typer.Option(
            "--adjudicate",
            metavar="OUT",
            help="Also write agreed entities to OUT as brat, with the disputes alongside.",
        ),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Then open OUT in the annotation page, with the disputes as suggestions.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite FILE and OUT.")] = False,
) -> None:
    """Compare annotators: exact and overlap F1, by label and kind; κ and α over words; classes of disagreement.

    Documents are matched by id. Intervals are from a bootstrap over documents.
    """
    if len(sources) < 2:
        raise DisconerError("Agreement needs two annotators", fix="Name two or more files or folders.")
    if open_page and adjudicate is None:
        raise DisconerError("There is nothing to open", fix="Add --adjudicate OUT.")
    ledger = Ledger(skip_bad=skip_bad)
    named = dict(zip(annotator_names(sources, names), sources, strict=True))
    agreement, adjudicated = agree(
        named, from_format=from_format, html=html, adjudicate=adjudicate, force=force, ledger=ledger
    )
    report(ledger)
    if as_json:
        print(json.dumps(agreement.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(agreement)
    if adjudicated:
        print(
            f"written: {counted(adjudicated.agreed, 'entities')} that all agree on, "
            f"of {counted(adjudicated.documents, 'documents')}; {counted(adjudicated.disputes, 'disputes')} "
            f"in {adjudicated.disputed_documents:,} of them, in {adjudicate}",
            file=sys.stderr,
        )
    if adjudicate and open_page:
        annotate_cli(adjudicate)
    elif adjudicate:
        print(f"Settle the disputes: disconer annotate {adjudicate}", file=sys.stderr)


def _show(agreement: Agreement) -> None:
    from disconer.evaluate.annotators.agreement_table import tables

    for table in tables(agreement):
        show(table.title, table.columns, table.sections)
        if table.note:
            print(f"{table.note}\n")
