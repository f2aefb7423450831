"""`disconer suggest`: pre-annotate a brat folder with a model."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from itertools import tee
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import progress, report
from disconer.cli.model_options import ThresholdOption
from disconer.cli.outputs import forget_own_losses
from disconer.core.corpus import labels_named
from disconer.core.counting import counted
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import format_named, note_unread, write
from disconer.formats.brat.configuration import copy_configurations, ensure_annotation_conf
from disconer.formats.brat.suggestions import Suggested, with_suggestions
from disconer.formats.source import Source
from disconer.formats.target import new_folder, refuse_existing
from disconer.predict.lazy import LazyRecognizer
from disconer.predict.settings import Annotator, Settings
from disconer.store.names import default_model, description_of

_TEXT = ".txt"


def suggest(
    folder: Path,
    out: Path,
    recognizer: Annotator,
    labels: Collection[str],
    *,
    conflicting: bool = False,
    scores: bool = False,
    force: bool = False,
    ledger: Ledger | None = None,
) -> Suggested:
    """Write a copy of a brat folder with a model's suggestions; what was annotated stays byte for byte.

    labels: of the suggestions, which annotation.conf gets. conflicting: add suggestions that conflict with
    annotations, too. scores: add each suggestion's score as a note.
    """
    source = Source(folder)
    _check_output(folder, out, force)
    ledger = ledger or Ledger()
    note_unread(source, format_named("brat"), ledger, texts=True)
    total = Suggested()

    def annotated() -> Iterator[Document]:
        given, texts = tee(progress(_documents(source, ledger), "documents"))
        found = recognizer.annotate(Document(document.id, document.text) for document in texts)
        for document, predicted in zip(given, found, strict=True):
            merged, counts = with_suggestions(document, predicted.entities, conflicting=conflicting, scores=scores)
            total.add(counts)
            yield merged

    with new_folder(out) as staging:
        write(annotated(), staging, "brat", ledger, force=True)
        copy_configurations(source, staging, labels)
        ensure_annotation_conf(staging, labels)
    return total


def _check_output(folder: Path, out: Path, force: bool) -> None:
    if folder.resolve() == out.resolve() or folder.resolve() in out.resolve().parents:
        raise DisconerError(
            "The output folder is the input, or inside it",
            where=Where(str(out)),
            fix="Choose another folder for --out.",
        )
    refuse_existing(out, force)


def _documents(source: Source, ledger: Ledger) -> Iterator[Document]:
    """The documents of a brat folder; a text without an .ann has no annotations yet."""
    brat = format_named("brat")
    annotated = {member.stem for member in source if member.suffix in brat.suffixes}
    bare = [member for member in source if member.suffix == _TEXT and member.stem not in annotated]
    if not bare and not annotated:
        raise DisconerError("There are no texts in this folder", where=Where(str(source)), expected=".txt files")
    names = {member.name for member in bare}
    rest = source.only(member for member in source if member.name not in names)
    yield from brat.read(rest, ledger)
    for member in bare:
        yield Document(member.stem, member.prose())


def suggest_cli(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="brat folder; texts need no .ann file.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write; also as -o OUT.")],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="M", help="Folder or name of the model; default: clinical-trials."),
    ] = None,
    labels: Annotated[str | None, typer.Option("--labels", metavar="A,B", help="Suggest only these labels.")] = None,
    threshold: ThresholdOption = None,
    scores: Annotated[bool, typer.Option("--scores", help="Add each suggestion's score as a note.")] = False,
    conflicting: Annotated[
        bool,
        typer.Option(
            "--conflicting",
            help="Also add suggestions that conflict with an annotation; otherwise they are only counted.",
        ),
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite OUT.")] = False,
) -> None:
    """Copy a brat folder with a model's suggestions as further annotations.

    Existing annotations stay byte for byte as they are. A suggestion that is already annotated is not repeated. One
    that shares text with an annotation of the same label, or has exactly the fragments of an annotation of another
    label, is a conflict and is left out.
    """
    chosen = model or default_model()
    ledger = Ledger(skip_bad=skip_bad)
    recognizer = LazyRecognizer(Settings(chosen, labels=labels, threshold=threshold))
    suggested = description_of(chosen)["labels"] if labels is None else labels_named(labels)
    counts = suggest(
        folder,
        out,
        recognizer,
        suggested,
        conflicting=conflicting,
        scores=scores,
        force=force,
        ledger=ledger,
    )
    recognizer.account(ledger)
    forget_own_losses(ledger)
    report(ledger)
    conflicts = "added, too" if conflicting else "left out"
    print(
        f"written: {counted(counts.added, 'suggestions')} in {out}; {counts.equal:,} were annotated already, "
        f"{counts.conflicting:,} conflict with an annotation and were {conflicts}",
        file=sys.stderr,
    )
