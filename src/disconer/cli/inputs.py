"""The inputs of a prediction, as they are named on the command line: paths, and - for stdin."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from disconer.core.errors import DisconerError, Where, excerpt, listed
from disconer.core.ledger import Ledger
from disconer.formats import format_named
from disconer.formats.jsonfiles import leading_keys
from disconer.formats.source import Source
from disconer.formats.unrecognised import refuse_pubtator

Given = tuple[str, str | None]  # a path and its format
AnyError = TypeVar("AnyError", bound=DisconerError)

STDIN = "-"


@contextmanager
def given_inputs(paths: list[str], from_format: str | None, ledger: Ledger) -> Iterator[list[Given]]:
    """All inputs with their formats. Stdin is kept in a file while the block lasts; messages call it stdin."""
    with tempfile.TemporaryDirectory() as folder:
        spool = Path(folder) / "stdin"
        try:
            yield [_as_file(path, from_format, spool) for path in paths]
        except DisconerError as error:
            raise _of_stdin(error, spool) from error
        finally:
            ledger.examples[:] = [_of_stdin(error, spool) for error in ledger.examples]


def _as_file(path: str, from_format: str | None, spool: Path) -> Given:
    if path != STDIN:
        _refuse_text(path)
        return path, from_format
    with open(spool, "wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return str(spool), from_format or _format_of_stdin(Source(spool))


def _format_of_stdin(spool: Source) -> str:
    """Plain text, unless its first line is a document of native JSONL. Other JSON with texts is refused."""
    refuse_pubtator(spool)
    (member,) = spool
    head = member.head()
    if format_named("jsonl").sniff(member.name, head):
        return "jsonl"
    if "text" in (keys := leading_keys(head)):
        raise DisconerError(
            "This JSON is not disconer's own",
            where=Where(member.origin),
            got=f"objects with {listed(sorted(keys), 8)}",
            expected='lines {"id": …, "text": …}',
            fix="Name its format with --from (`disconer formats` lists them), or give it as it is with --from text.",
        )
    return "text"


def _of_stdin(error: AnyError, spool: Path) -> AnyError:
    if error.where is None or error.where.path != str(spool):
        return error
    return error.changed(where=replace(error.where, path=spool.name))


def _refuse_text(path: str) -> None:
    """An argument that has spaces and is not a path may be meant as a text, which has its own option."""
    if len(path.split()) > 1 and "://" not in path and not os.path.exists(path):
        raise DisconerError(
            "There is no such file or folder",
            where=Where(excerpt(path)),
            fix='Check the path. For a text instead of a file: --text "…".',
        )
