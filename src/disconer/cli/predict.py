"""`disconer predict`: find entities in texts."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import report, say_written
from disconer.cli.inputs import given_inputs
from disconer.cli.model_options import PrecisionOption, RuntimeOption, ThresholdOption
from disconer.cli.outputs import (
    check_folder,
    check_output,
    complete_folder,
    forget_own_losses,
    is_folder,
    named_output,
    target_format,
)
from disconer.cli.predict_on_ray import predict_on_ray, refuse_with_ray, refuse_without_ray
from disconer.core.counting import counted
from disconer.core.errors import DisconerError
from disconer.core.ledger import Amount, Ledger
from disconer.core.types import Document
from disconer.formats import Format, format_named, note_unread, sniff, write
from disconer.formats.remote import open_source
from disconer.formats.source import Source
from disconer.predict.files import Filled, Folder, all_documents
from disconer.predict.inputs import Share, Unit, units
from disconer.predict.lazy import LazyRecognizer, load_recognizer
from disconer.predict.local.folder_record import FolderRecord, n_outputs
from disconer.predict.local.jobs import useful_jobs
from disconer.predict.local.work import Work
from disconer.predict.ray.plan import Cluster
from disconer.predict.settings import Settings
from disconer.store.names import default_model
from disconer.text import SplitterName

TEXT_ID = "text"  # the id of the document made from --text
PART_FORMAT = "jsonl"
MAX_WIDTH = 120  # columns of text: longer lines are hard to read


def predict_cli(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT", help="Files, folders, .zip or .gz of any format; - for stdin."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="A text, instead of INPUT.")] = None,
    from_format: Annotated[
        str | None,
        typer.Option("--from", help="Format of INPUT; detected if not given (stdin: native JSONL or plain text)."),
    ] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format to write; taken from the suffix of OUT if not given.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="OUT", help="File to write, or folder with one output per input file."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="M", help="Folder or name of the model; default: clinical-trials."),
    ] = None,
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="A,B", help="Only entities with these labels.")
    ] = None,
    threshold: ThresholdOption = None,
    splitter: Annotated[
        SplitterName | None,
        typer.Option(
            "--splitter", help="Sentence splitter of input without sentences; default: the model's. See data.splitter."
        ),
    ] = None,
    parser: Annotated[
        str | None,
        typer.Option("--parser", metavar="P", help="Dependency parser to use instead of the model's own."),
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="D", help="cpu, cuda, cuda:1 …; default: a GPU if available.")
    ] = None,
    precision: PrecisionOption = "fp32",
    runtime: RuntimeOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            metavar="N",
            help="Number of worker processes on this machine; default: 1, on a GPU one less than the number of cores.",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="K/N", help="Predict only shard K of N, as a part in the folder OUT."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="[ADDRESS]",
            help="Predict on Ray, into parts in the folder OUT: auto, HOST:PORT, or nothing for a local Ray.",
        ),
    ] = None,
    actors: Annotated[
        int | None,
        typer.Option("--actors", min=1, metavar="N", help="With --ray: number of actors; default: as many as fit."),
    ] = None,
    gpus_per_actor: Annotated[
        float, typer.Option("--gpus-per-actor", min=0, metavar="X", help="With --ray; 0.5 lets two actors share a GPU.")
    ] = 0.0,
    force: Annotated[
        bool, typer.Option("--force", "--overwrite", help="Overwrite OUT, including finished parts.")
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
) -> None:
    """Find entities in texts.

    Without --to and --out, entities are drawn under the text on the terminal. If OUT is a folder, its outputs of
    the same texts are kept: run the same command again to continue an interrupted run.

    Entities in INPUT are ignored.
    """
    if (text is None) == (not inputs):
        raise DisconerError(
            "Prediction needs either inputs or a text", fix='Name files or folders, - for stdin, or --text "…"'
        )
    if ray is not None:
        refuse_with_ray(jobs=jobs or 1, shard=shard, device=device)
    elif actors or gpus_per_actor or out:
        refuse_without_ray(out, actors, gpus_per_actor)
    path = None if out is None else named_output(out)
    settings = Settings(model or default_model(), labels, threshold, parser, device, precision, splitter, runtime)
    if text is not None:
        if ray is not None or shard is not None:
            raise DisconerError(
                "--text cannot be combined with --ray or --shard", fix="Leave out --ray and --shard, or name files."
            )
        if to_format is None and out is None:
            _show_text(_sound(text), settings)
        else:
            _write_text(_sound(text), settings, to_format, path, force=force)
        return
    ledger = Ledger(skip_bad=skip_bad)
    with given_inputs(inputs or [], from_format, ledger) as given:
        found = [unit for path, format in given for unit in _units(open_source(path), format, ledger)]
        n_jobs = useful_jobs(jobs or 1, found) if jobs or ray is not None else None
        work = Work(given, found, settings, n_jobs, ledger)
        if ray is not None:
            predict_on_ray(work, out, to_format, Cluster(ray, actors, gpus_per_actor), force=force)
        elif shard is not None:
            _predict_part(work, Share.parse(shard), path, to_format, force=force)
        else:
            target = target_format(to_format, path)
            check_output(path, target, found, force=force)
            if target is None:
                _show(work)
            elif path is None:
                with _printed(target) as file:
                    work.into_file(file, target, force=False)
            else:
                _write(work, path, target, force=force)
    forget_own_losses(ledger)
    report(ledger)


def _show_text(text: str, settings: Settings) -> None:
    recognizer = load_recognizer(settings)
    _draw([recognizer(text)], recognizer.model.labels)
    if recognizer.parses:
        ledger = Ledger()
        recognizer.account(ledger)
        report(ledger)


def _write_text(text: str, settings: Settings, to_format: str | None, out: Path | None, *, force: bool) -> None:
    target = target_format(to_format, out)
    assert target is not None  # one of the two names it
    check_output(out, target, [], force=force)
    ledger = Ledger()
    recognizer = LazyRecognizer(settings)
    given = Document(TEXT_ID, text)
    if out is None:
        with _printed(target) as path:
            write(recognizer.annotate([given]), path, target.name, ledger)
    elif is_folder(out, target):
        record = FolderRecord.open(out, target, settings, force=force)
        folder = Folder(record.origins(), target, ledger, force=force)
        folder.check_document(given)
        record.save()
        list(folder.fill_with([given], recognizer))
        complete_folder(out, target, settings.model)
        folder.filled.others = n_outputs(out, target) - 1
        _say_filled(out, target, folder.filled)
    else:
        written = Amount()
        write(written.counted(recognizer.annotate([given])), out, target.name, ledger, force=force)
        say_written(written, out, target.name)
    recognizer.account(ledger)
    forget_own_losses(ledger)
    report(ledger)


def _sound(text: str) -> str:
    """A command-line argument without lone surrogates, which stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _units(source: Source, from_format: str | None, ledger: Ledger) -> Iterator[Unit]:
    format = format_named(from_format) if from_format else sniff(source)
    note_unread(source, format, ledger, texts=True, by_user=from_format is not None)
    return units(source, format.name)


def _predict_part(work: Work, share: Share, out: Path | None, to_format: str | None, *, force: bool) -> None:
    if out is None or to_format not in (None, PART_FORMAT):
        raise DisconerError(
            "A shard is written as a part, which is native JSONL, in a folder",
            fix="Name the folder with --out and leave --to out; `disconer merge` writes any format.",
        )
    check_folder(out, work.inputs)
    part = work.into_part(out, share, force=force)
    if part:
        print(f"written: {counted(part.n_documents, 'documents')} in {part.path}", file=sys.stderr)
    else:
        print(f"skipped: shard {share} is already in {out} (--force predicts it again)", file=sys.stderr)


def _show(work: Work) -> None:
    recognizer = load_recognizer(work.settings)
    found = recognizer.annotate(all_documents(work.inputs, work.ledger))
    _draw(found, recognizer.model.labels, headings=True)
    recognizer.account(work.ledger)


def _draw(documents: Iterable[Document], labels: tuple[str, ...], *, headings: bool = False) -> None:
    """Show documents on the terminal, each label of the model in its colour."""
    from rich.console import Console

    from disconer.render.terminal import View

    console = Console(highlight=False, markup=False, emoji=False)
    view = View(width=min(console.width, MAX_WIDTH), labels=labels)
    for number, document in enumerate(documents):
        if number:
            console.print()
        for line in view(document, heading=document.id if headings else ""):
            console.print(line, soft_wrap=True)


@contextmanager
def _printed(target: Format) -> Iterator[Path]:
    """A temporary file to write, which is then copied to stdout: formats are only written to files."""
    with tempfile.TemporaryDirectory() as spool:
        path = Path(spool) / f"predicted{target.suffixes[0]}"
        yield path
        with open(path, "rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)


def _write(work: Work, out: Path, target: Format, *, force: bool) -> None:
    if not is_folder(out, target):
        say_written(work.into_file(out, target, force=force), out, target.name)
        return
    filled = work.into_folder(out, target, force=force)
    complete_folder(out, target, work.settings.model)
    _say_filled(out, target, filled)


def _say_filled(out: Path, target: Format, filled: Filled) -> None:
    what = "documents" if target.writes_folder else "files"
    print(f"written: {counted(filled.written, what)} in {out}", file=sys.stderr)
    if filled.replaced:
        print(f"replaced: {counted(filled.replaced, what)} of another text, or of other settings", file=sys.stderr)
    if filled.done:
        print(f"skipped: {counted(filled.done, what)} already there (--force predicts them again)", file=sys.stderr)
    if filled.others:
        print(f"also there: {counted(filled.others, what)} not made from this input", file=sys.stderr)
