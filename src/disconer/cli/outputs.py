"""Where verbs that predict write to: which format, a file or a folder, and whether it can be written at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.formats import Format, format_for, format_named
from disconer.formats.extras import SENTENCES, TREES
from disconer.formats.target import refuse_existing
from disconer.predict.inputs import Unit


def target_format(to_format: str | None, out: Path | None) -> Format | None:
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


def is_folder(out: Path, target: Format) -> bool:
    """Whether each input is to have an output of its own, in a folder."""
    return target.writes_folder or out.is_dir() or not out.suffix


def check_output(out: Path | None, target: Format | None, found: Sequence[Unit], *, force: bool) -> None:
    """Say before any work what could not be written after it."""
    if target and target.writes_folder and out is None:
        raise DisconerError(f"{target.name} is written as a folder", fix="Name it with --out.")
    if not out or not target:
        return
    if is_folder(out, target):
        check_folder(out, found)
    else:
        refuse_existing(out, force)


def check_folder(out: Path, found: Sequence[Unit]) -> None:
    """Say before any work that a folder cannot be filled."""
    if out.is_file():
        raise DisconerError("A file stands where a folder is to be written", where=Where(str(out)))
    if any(unit.source.path.resolve() == out.resolve() for unit in found):
        raise DisconerError(
            "The output would go among the input", where=Where(str(out)), fix="Choose another folder for --out."
        )


def forget_own_losses(ledger: Ledger) -> None:
    """Sentences and trees that a format cannot hold are the recogniser's: nobody asked for them."""
    for own in (SENTENCES, TREES):
        ledger.losses.pop(own, None)
