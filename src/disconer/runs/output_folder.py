"""What a run leaves on disk to be resumed: its state, and the versions that it ran with."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import torch

from disconer.core.errors import DisconerError, Where
from disconer.core.files import replacing


class Stateful(Protocol):
    """The stateful parts of a run: optimizer, schedule, gradient scaler."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


def save_state(state: dict[str, Any], path: Path) -> None:
    """Like `replace_file`, without a copy in memory."""
    with replacing(path) as stream:
        torch.save(state, stream)


def check_folder(path: Path, facts: Path, *, product: str, run: str, resume: bool, has_begun: bool = True) -> None:
    """Stop before any work if a folder holds something that must not be overwritten.

    facts: the file that marks a run's folder. product, run: their names in messages, such as "the model" and "a run".
    has_begun: whether a folder with that file holds a run worth keeping.
    """
    where = Where(str(path))
    if path.exists() and not path.is_dir():
        raise DisconerError(f"The folder for {product} is an existing file", where=where, fix="Choose another folder.")
    if not path.is_dir() or all(file.name.startswith(".") for file in path.iterdir()):
        return
    if not facts.is_file():
        raise DisconerError("This folder is not empty", where=where, fix=f"Choose a new or empty folder for {product}.")
    if has_begun and not resume:
        raise DisconerError(
            f"This folder already holds {run}",
            where=where,
            fix="Add --resume to continue it or --force to replace it, or choose another folder.",
        )


PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "safetensors", "spacy", "stanza")


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def code_hash() -> str:
    """A fingerprint of disconer's code, which distinguishes two states of one version."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:8]
