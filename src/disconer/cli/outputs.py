"""Where commands that predict write to: which format, file or folder, and whether it is writable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.formats import Format, format_for, format_named
from disconer.formats.brat.configuration import ensure_annotation_conf
from disconer.formats.extras import SENTENCES, TREES
from disconer.formats.target import refuse_device, refuse_existing
from disconer.predict.inputs import Unit
from disconer.store.names import description_of


def target_format(to_format: str | None, out: Path | None) -> Format | None:
    """The format to write, or None to print to the terminal."""
    if to_format:
        target = format_named(to_format)
    elif out is None:
        return None
    else:
        target = format_for(out)
    if target.write is None:
        raise DisconerError(f"The format {target.name!r} can be read but not written", fix="Choose another with --to.")
    return target


def named_output(out: str) -> Path:
    """The path of an output. An empty name is an error, and so is `-`, which only means stdin."""
    if out in ("", "-"):
        raise DisconerError(
            "The output needs the name of a file or folder",
            got=repr(out),
            fix="`disconer predict` prints its output if --out is left out and --to names a format.",
        )
    return Path(out)


def is_folder(out: Path, target: Format) -> bool:
    """Whether each input gets its own output file in a folder."""
    return target.writes_folder or out.is_dir() or not out.suffix


def check_output(out: Path | None, target: Format | None, found: Sequence[Unit], *, force: bool) -> None:
    """Report before any work that the output could not be written."""
    if target and target.writes_folder and out is None:
        raise DisconerError(f"{target.name} is written as a folder", fix="Name it with --out.")
    if not out or not target:
        return
    if is_folder(out, target):
        check_folder(out, found)
    else:
        _refuse_inside(out, found, "file")
        refuse_existing(out, force)


def check_folder(out: Path, found: Sequence[Unit]) -> None:
    """Report before any work that the output folder could not be written."""
    refuse_device(out)
    if out.is_file():
        raise DisconerError("The output folder is an existing file", where=Where(str(out)))
    _refuse_inside(out, found, "folder")


def _refuse_inside(out: Path, found: Sequence[Unit], what: str) -> None:
    """An output in an input folder would be read as input the next time, perhaps instead of the texts."""
    place = out.resolve()
    if any(
        folder.is_dir() and place.is_relative_to(folder.resolve()) for folder in {unit.source.path for unit in found}
    ):
        raise DisconerError(
            f"The output {what} is inside the input", where=Where(str(out)), fix=f"Choose another {what} for --out."
        )


def complete_folder(out: Path, target: Format, model: str) -> None:
    """Add what a folder of a format needs beside its documents: for brat, the labels, unless they are there."""
    if target.name == "brat":
        ensure_annotation_conf(out, description_of(model)["labels"])


def forget_own_losses(ledger: Ledger) -> None:
    """Do not count sentences and trees that a format cannot hold: the recogniser added them, not the user."""
    for own in (SENTENCES, TREES):
        ledger.losses.pop(own, None)
