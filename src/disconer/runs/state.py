"""The state of a run on disk, from which it is resumed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import torch

from disconer.core.errors import DisconerError, Where


class Stateful(Protocol):
    """What moves a run on: optimizer, schedule, gradient scaler."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


def save_state(state: dict[str, Any], path: Path) -> None:
    """As `replace_file`, without a copy in memory."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as stream:
        torch.save(state, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)


def check_folder(path: Path, facts: Path, *, product: str, run: str, has_begun: bool, resume: bool) -> None:
    """Stop before any work if something stands in a folder that must not be touched.

    facts: the file by which a run's folder is known. product, run: what they are called, as in "the run".
    has_begun: whether a run in it has anything worth keeping.
    """
    where = Where(str(path))
    if path.exists() and not path.is_dir():
        raise DisconerError(f"A file stands where {product} is to go", where=where, fix="Choose another folder.")
    if not path.is_dir() or all(file.name.startswith(".") for file in path.iterdir()):
        return
    if not facts.is_file():
        raise DisconerError(
            "This folder holds other things", where=where, fix=f"Choose a new or empty folder for {product}."
        )
    if has_begun and not resume:
        raise DisconerError(f"{run} is here already", where=where, fix="Add --resume, or choose another folder.")
