"""Documents written to a format and read back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from disconer import Document, Ledger, read, write


def through(documents: Iterable[Document], name: str, format: str) -> tuple[list[Document], Ledger]:
    """What comes back from a file of that name, recognised by its content, and the account of both ways."""
    ledger = Ledger()
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(documents, path, format, ledger)
        return list(read(path, None, ledger)), ledger
