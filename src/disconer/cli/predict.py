"""`disconer predict`: the entities of texts."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import progress, report
from disconer.errors import DisconerError, Where
from disconer.formats import Format, format_for, format_named, write
from disconer.formats.extras import SENTENCES, TREES
from disconer.formats.source import Source
from disconer.formats.target import refuse_existing
from disconer.ledger import Ledger
from disconer.models import default_model
from disconer.predict import Folder, Unit, all_documents, units, wanted
from disconer.types import Document

if TYPE_CHECKING:
    from disconer.recognizer import Recognizer  # it brings torch

STDIN = "-"
MAX_WIDTH = 120  # columns of text: longer lines are hard to read


class Predictor:
    """A model with what of its entities is wanted."""

    def __init__(
        self,
        model: str | None = None,
        *,
        labels: str | None = None,
        threshold: float = 0.0,
        parser: str | None = None,
    ) -> None:
        from disconer.recognizer import Recognizer

        self.recognizer: Recognizer = Recognizer.from_pretrained(
            model or default_model(), parser=parser, keep_parses=True
        )
        self.labels = None if labels is None else _known_labels(labels, self.recognizer.labels)
        self.threshold = threshold

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in self.recognizer.annotate(documents):
            yield wanted(document, self.labels, self.threshold)


def _known_labels(given: str, known: tuple[str, ...]) -> frozenset[str]:
    chosen = [label.strip() for label in given.split(",")]
    if unknown := [label for label in chosen if label not in known]:
        raise DisconerError(f"The model knows no label {unknown[0]!r}", expected=f"some of {', '.join(known)}")
    return frozenset(chosen)


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
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="File to write, or folder for an output of each input file."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", help="Folder or name of the model; by default the demo model.")
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT, or what in it is done already.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad input out and count it.")] = False,
) -> None:
    """Find the entities of texts.

    Without --to and --out the texts are shown with their entities drawn under them. With a folder for OUT, what is
    in it from an earlier run counts as done: run the same command again to go on.

    Entities that INPUT brings along are passed over.
    """
    ledger = Ledger(skip_bad=skip_bad)
    target = _target_format(to_format, out)
    with _inputs(inputs or [], text, from_format) as found:
        _check_output(out, target, found, force=force)
        predictor = Predictor(model, labels=labels, threshold=threshold, parser=parser)
        if target is None:
            _show(predictor, found, ledger, headings=text is None)
        elif out is None:
            _print(predictor, found, target, ledger)
        elif _is_folder(out, target):
            _fill(Folder(out, target, ledger, force=force), found, predictor)
        else:
            documents = progress(predictor.annotate(all_documents(found, ledger)), "documents")
            write(documents, out, target.name, ledger, force=force)
    predictor.recognizer.parsing.enter(ledger)
    for own in (SENTENCES, TREES):  # they are the recogniser's: nobody asked for them
        ledger.losses.pop(own, None)
    report(ledger)


@contextmanager
def _inputs(paths: list[str], text: str | None, from_format: str | None) -> Iterator[list[Unit]]:
    """The units of all inputs. What comes on stdin or as a text is a file while the block lasts."""
    if (text is None) == (not paths):
        raise DisconerError("It takes either inputs or a text", fix='Name files or folders, - for stdin, or --text "…"')
    with tempfile.TemporaryDirectory() as spool:
        if text is not None:
            given = Path(spool) / "text"
            given.write_bytes(text.encode("utf-8", "replace"))
            yield list(units(Source(given), "text"))
        else:
            sources = [_source(path, from_format, Path(spool)) for path in paths]
            yield list(chain.from_iterable(units(source, format) for source, format in sources))


def _source(path: str, from_format: str | None, spool: Path) -> tuple[Source, str | None]:
    if path != STDIN:
        return Source(path), from_format
    with open(spool / "stdin", "wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return Source(spool / "stdin"), from_format or "text"


def _target_format(to_format: str | None, out: Path | None) -> Format | None:
    """The format to write, or None to show."""
    if to_format:
        target = format_named(to_format)
    elif out is None:
        return None
    else:
        target = format_for(out)
    if target.write is None:
        raise DisconerError(f"The format {target.name!r} can be read, not written", fix="Choose another with --to.")
    return target


def _is_folder(out: Path, target: Format) -> bool:
    return target.writes_folder or out.is_dir() or not out.suffix


def _check_output(out: Path | None, target: Format | None, found: list[Unit], *, force: bool) -> None:
    """Say before any work what could not be written after it."""
    if target and target.writes_folder and out is None:
        raise DisconerError(f"{target.name} is written as a folder", fix="Name it with --out.")
    if not out or not target:
        return
    if not _is_folder(out, target):
        refuse_existing(out, force)
    elif out.is_file():
        raise DisconerError("A file stands where a folder is to be written", where=Where(str(out)))
    elif any(unit.source.path.resolve() == out.resolve() for unit in found):
        raise DisconerError(
            "The output would go among the input", where=Where(str(out)), fix="Choose another folder for --out."
        )


def _show(predictor: Predictor, found: list[Unit], ledger: Ledger, *, headings: bool) -> None:
    from rich.console import Console

    from disconer.view import View

    console = Console(highlight=False, markup=False, emoji=False)
    view = View(width=min(console.width, MAX_WIDTH), labels=predictor.recognizer.labels)
    for number, document in enumerate(predictor.annotate(all_documents(found, ledger))):
        if number:
            console.print()
        for line in view(document, heading=document.id if headings else ""):
            console.print(line, soft_wrap=True)


def _print(predictor: Predictor, found: list[Unit], target: Format, ledger: Ledger) -> None:
    """Write to stdout. Formats are written as files, whole or not at all; so this is one first."""
    with tempfile.TemporaryDirectory() as spool:
        path = Path(spool) / f"predicted{target.suffixes[0]}"
        write(predictor.annotate(all_documents(found, ledger)), path, target.name, ledger)
        with open(path, "rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)


def _fill(folder: Folder, found: list[Unit], predictor: Predictor) -> None:
    by_document = folder.format.writes_folder
    total = None if by_document and any(unit.format.name != "text" for unit in found) else len(found)
    for _ in progress(folder.fill(found, predictor), "outputs", total):
        pass
    what = "documents" if by_document else "files"
    print(f"written: {folder.written} {what} in {folder.path}", file=sys.stderr)
    if folder.done:
        print(f"passed over: {folder.done} {what} that were there already (--force does them again)", file=sys.stderr)
