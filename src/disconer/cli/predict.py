"""`disconer predict`: the entities of texts."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import report
from disconer.cli.outputs import check_folder, check_output, forget_own_losses, is_folder, target_format
from disconer.cli.ray_option import predict_on_ray, refuse_with_ray, refuse_without_ray
from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.formats import Format
from disconer.formats.remote import open_source
from disconer.predict.files import all_documents
from disconer.predict.inputs import Share, units
from disconer.predict.local.jobs import useful_jobs
from disconer.predict.local.work import Work
from disconer.predict.predictor import Precision, Predictor, Settings
from disconer.predict.ray.plan import Cluster
from disconer.store.names import default_model

Given = tuple[str, str | None]  # a path and its format

STDIN = "-"
PART_FORMAT = "jsonl"
MAX_WIDTH = 120  # columns of text: longer lines are hard to read


def predict_cli(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT", help="Files, folders, .zip or .gz of any format; - for stdin."),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="A text to look at, in place of INPUT.")
    ] = None,
    from_format: Annotated[
        str | None, typer.Option("--from", help="Format of INPUT; recognised if not given (stdin is plain text).")
    ] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format to write; by the suffix of OUT if not given.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="OUT", help="File to write, or folder for an output of each input file."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="Folder or name of the model; by default clinical-trials."),
    ] = None,
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="A,B", help="Only entities with these labels.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="Leave out entities with a lower score.")
    ] = 0.0,
    parser: Annotated[
        str | None,
        typer.Option("--parser", metavar="P", help="Where syntactic heads come from, if not from the model's parser."),
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="D", help="cpu, cuda, cuda:1 …; by default a GPU if there is one.")
    ] = None,
    precision: Annotated[
        Precision, typer.Option("--precision", help="bf16 is faster where hardware has it, and may differ a little.")
    ] = "fp32",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes that share the work on this machine.")
    ] = 1,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="K/N", help="Only the K-th of N shares, as a part in the folder OUT."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="[ADDRESS]",
            help="Share the work on Ray, into parts in the folder OUT: at auto or HOST:PORT, or on this machine.",
        ),
    ] = None,
    actors: Annotated[
        int | None,
        typer.Option("--actors", min=1, metavar="N", help="Processes that predict, with --ray; all there is room for."),
    ] = None,
    gpus_per_actor: Annotated[
        float, typer.Option("--gpus-per-actor", min=0, metavar="X", help="With --ray; 0.5 lets two share a GPU.")
    ] = 0.0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT, or what in it is done already.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad input out and count it.")] = False,
) -> None:
    """Find the entities of texts.

    Without --to and --out the texts are shown with their entities drawn under them. With a folder for OUT, what is
    in it from an earlier run counts as done: run the same command again to go on.

    Entities that INPUT brings along are passed over.
    """
    ledger = Ledger(skip_bad=skip_bad)
    if ray is None:
        refuse_without_ray(out, actors, gpus_per_actor)
    else:
        refuse_with_ray(jobs=jobs, shard=shard, device=device)
    settings = Settings(model or default_model(), labels, threshold, parser, device, precision)
    with _inputs(inputs or [], text, from_format) as given:
        found = [unit for path, format in given for unit in units(open_source(path), format)]
        work = Work(given, found, settings, useful_jobs(jobs, found), ledger)
        path = None if out is None else Path(out)
        if ray is not None:
            predict_on_ray(work, out, to_format, Cluster(ray, actors, gpus_per_actor), force=force)
        elif shard is not None:
            _predict_part(work, Share.parse(shard), path, to_format, force=force)
        else:
            target = target_format(to_format, path)
            check_output(path, target, found, force=force)
            if target is None:
                _show(work, headings=text is None)
            elif path is None:
                _print(work, target)
            else:
                _write(work, path, target, force=force)
    forget_own_losses(ledger)
    report(ledger)


@contextmanager
def _inputs(paths: list[str], text: str | None, from_format: str | None) -> Iterator[list[Given]]:
    """All inputs with their formats. What comes on stdin or as a text is a file while the block lasts."""
    if (text is None) == (not paths):
        raise DisconerError("It takes either inputs or a text", fix='Name files or folders, - for stdin, or --text "…"')
    with tempfile.TemporaryDirectory() as spool:
        if text is not None:
            given = Path(spool) / "text"
            given.write_bytes(text.encode("utf-8", "replace"))
            yield [(str(given), "text")]
        else:
            yield [_as_file(path, from_format, Path(spool)) for path in paths]


def _as_file(path: str, from_format: str | None, spool: Path) -> Given:
    if path != STDIN:
        return path, from_format
    with open(spool / "stdin", "wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return str(spool / "stdin"), from_format or "text"


def _predict_part(work: Work, share: Share, out: Path | None, to_format: str | None, *, force: bool) -> None:
    if out is None or to_format not in (None, PART_FORMAT):
        raise DisconerError(
            "A share becomes a part, which is native JSONL, in a folder",
            fix="Name the folder with --out and leave --to out; `disconer merge` writes any format.",
        )
    check_folder(out, work.inputs)
    part = work.into_part(out, share, force=force)
    if part:
        print(f"written: {part.n_documents} documents in {part.path}", file=sys.stderr)
    else:
        print(f"passed over: share {share} is in {out} already (--force does it again)", file=sys.stderr)


def _show(work: Work, *, headings: bool) -> None:
    from rich.console import Console

    from disconer.render.terminal import View

    predictor = Predictor(work.settings)
    console = Console(highlight=False, markup=False, emoji=False)
    view = View(width=min(console.width, MAX_WIDTH), labels=predictor.recognizer.labels)
    for number, document in enumerate(predictor.annotate(all_documents(work.inputs, work.ledger))):
        if number:
            console.print()
        for line in view(document, heading=document.id if headings else ""):
            console.print(line, soft_wrap=True)
    predictor.recognizer.parsing.enter(work.ledger)


def _print(work: Work, target: Format) -> None:
    """Write to stdout. Formats are written as files, whole or not at all; so this is one first."""
    with tempfile.TemporaryDirectory() as spool:
        path = Path(spool) / f"predicted{target.suffixes[0]}"
        work.into_file(path, target, force=False)
        with open(path, "rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)


def _write(work: Work, out: Path, target: Format, *, force: bool) -> None:
    if not is_folder(out, target):
        work.into_file(out, target, force=force)
        return
    written, done = work.into_folder(out, target, force=force)
    what = "documents" if target.writes_folder else "files"
    print(f"written: {written} {what} in {out}", file=sys.stderr)
    if done:
        print(f"passed over: {done} {what} that were there already (--force does them again)", file=sys.stderr)
