"""What is known of the models that can be used by name, from their descriptions. No torch here, and nothing slow."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.core.folders import CONFIG
from disconer.store.names import DEFAULT, find_model, named_models

CARD = "README.md"
RELEASE = "release"  # what config.json calls what a released model says of itself; see `disconer.store.release`
_FRONT = "---\n"  # around what machines read of a card


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be used by name.

    title: what its texts are. data: what it learnt from. licence: of that data. Of models that nobody released, they
        are empty.
    f1, discontinuous_f1: by split, of all entities and of discontinuous ones alone, if they were measured.
    size: of its files, in bytes.
    """

    name: str
    folder: Path
    title: str
    labels: tuple[str, ...]
    data: str
    licence: str
    f1: dict[str, float]
    discontinuous_f1: dict[str, float]
    size: int

    @property
    def is_default(self) -> bool:
        return self.name == DEFAULT

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"folder": str(self.folder), "default": self.is_default}


def known_models() -> list[KnownModel]:
    """All of them, the default first."""
    return [_known(name, folder) for name, folder in named_models().items()]


def card_of(name: str) -> str:
    """The card of a model by its name or path, as people read it."""
    path = find_model(name) / CARD
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DisconerError(
            "This model has no card", where=Where(str(path)), fix="`disconer models` lists those that have one."
        ) from error
    return text.split(_FRONT, 2)[2].lstrip() if text.startswith(_FRONT) else text


def description_of(name: str) -> dict[str, Any]:
    """All that config.json says of a model, by its name or path."""
    from disconer.store.description import read_description

    return read_description(find_model(name))


def _known(name: str, folder: Path) -> KnownModel:
    described = _described(folder)
    release = described.get(RELEASE, {})
    figures = {split: measured for split, measured in described.get("figures", {}).items() if measured}
    return KnownModel(
        name=name,
        folder=folder,
        title=release.get("title", ""),
        labels=tuple(described.get("labels", ())),
        data=release.get("corpus", ""),
        licence=release.get("licence", ""),
        f1={split: measured["overall"]["f1"] for split, measured in figures.items()},
        discontinuous_f1={split: measured["kinds"]["discontinuous"]["f1"] for split, measured in figures.items()},
        size=sum(path.stat().st_size for path in folder.iterdir()),
    )


def _described(folder: Path) -> dict[str, Any]:
    try:
        described = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return {}  # it is listed, and loading it says what is wrong with it
    return described if isinstance(described, dict) else {}
