"""What tells one prediction from another: its input, its model, its settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disconer import __version__
from disconer.models import CONFIG, WEIGHTS, find_model
from disconer.predictor import Settings
from disconer.units import Unit

_DIGEST_BYTES = 16
_CHUNK = 2**20
# Not said of a part: where the model lay and what it ran on may differ from machine to machine.
_ELSEWHERE = ("model", "device")


@dataclass(frozen=True, slots=True)
class Identity:
    """What parts of one output have in common.

    input: of the names and sizes of files, within what was named. model: of its weights and configuration.
    """

    input: str
    model: str
    settings: dict[str, Any]


def identify(inputs: Sequence[Unit], settings: Settings, *, skip_bad: bool) -> Identity:
    asked = {name: value for name, value in asdict(settings).items() if name not in _ELSEWHERE}
    asked |= {"skip_bad": skip_bad, "disconer": __version__}
    return Identity(_input(inputs), _model(find_model(settings.model)), asked)


def _input(inputs: Sequence[Unit]) -> str:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for unit in inputs:
        for member in unit.source:
            digest.update(f"{member.name}\n{member.size}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _model(folder: Path) -> str:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    description = json.loads((folder / CONFIG).read_bytes())
    description.pop("figures", None)  # what was measured of it later
    digest.update(json.dumps(description, sort_keys=True).encode())
    with open(folder / WEIGHTS, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
