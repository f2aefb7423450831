"""`disconer merge`: join the parts of a sharded prediction."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from disconer.cli.console import report
from disconer.cli.outputs import forget_own_losses, target_format
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.formats.target import refuse_existing
from disconer.predict.local.manifest import find_parts
from disconer.predict.local.parts import write_joined


def merge_cli(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="Folders with parts that `predict --shard` wrote.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="File or folder to write.")],
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format to write; taken from the suffix of OUT if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite OUT.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Keep the first of several documents with one id, and count the rest.")
    ] = False,
) -> None:
    """Join the parts of a prediction, in the order of the input.

    All parts must be present, unchanged, and of the same input, model and settings. Otherwise nothing is written, and
    the error lists what is missing.
    """
    ledger = Ledger(skip_bad=skip_bad)
    target = target_format(to_format, out)
    assert target is not None  # since OUT is given
    refuse_existing(out, force)
    for folder in folders:
        if not folder.is_dir():
            raise DisconerError("No such folder", where=Where(str(folder)), fix="Check the path.")
    parts = find_parts(folders)
    written = write_joined(parts, out, target, ledger, force=force)
    print(f"written: {written} of {len(parts)} parts in {out}", file=sys.stderr)
    forget_own_losses(ledger)
    report(ledger)
