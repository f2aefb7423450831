"""What tells one prediction from another: its input, its model, its settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disconer.core.files import CONFIG
from disconer.core.version import __version__
from disconer.predict.inputs import Unit
from disconer.predict.predictor import Settings
from disconer.store.names import RELEASE, find_model

_DIGEST_BYTES = 16
_CHUNK = 2**20
_CARD_SUFFIX = ".md"  # of the model card, which has figures too
# Not said of a part: where the model lay and what it ran on may differ from machine to machine.
_ELSEWHERE = ("model", "device")


@dataclass(frozen=True, slots=True)
class Identity:
    """What parts of one output have in common.

    input: of the names and sizes of files, within what was named. model: of its files.
    """

    input: str
    model: str
    settings: dict[str, Any]


def identify(inputs: Sequence[Unit], settings: Settings, *, skip_bad: bool) -> Identity:
    asked = {name: value for name, value in asdict(settings).items() if name not in _ELSEWHERE}
    asked |= {"skip_bad": skip_bad, "disconer": __version__}
    return Identity(_input(inputs), model_identity(find_model(settings.model)), asked)


def _input(inputs: Sequence[Unit]) -> str:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for unit in inputs:
        for member in unit.source:
            digest.update(f"{member.name}\n{member.size}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def model_identity(folder: Path) -> str:
    """Of all files of a model, but not of what was measured of it, which may come later."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name == CONFIG:
            description = json.loads(path.read_bytes())
            for measured in ("figures", RELEASE):
                description.pop(measured, None)
            digest.update(json.dumps(description, sort_keys=True).encode())
        elif path.is_file() and path.suffix != _CARD_SUFFIX:
            digest.update(path.name.encode("utf-8", "surrogateescape"))
            with open(path, "rb") as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
    return digest.hexdigest()
