"""The record of what made a folder's outputs, so that a later run never takes another model's outputs for its own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.formats import Format
from disconer.predict.local.manifest import difference, made_by
from disconer.predict.origins import OTHER_FOLDER, Origins
from disconer.predict.settings import Settings

RECORD = ".disconer.json"  # in the folder; readers skip names that start with a dot
FORMAT_VERSION = 2
_EARLIER = 1  # without the inputs
_SHARDS, _RAY = "part-*-of-*.json", ".disconer/part-*.json"  # the manifests of parts
_DIGEST_BYTES = 16
_SHOWN_DIGITS = 8


@dataclass(slots=True)
class FolderRecord:
    """The settings that made a folder's outputs. What each was made from is in `Origins`.

    model: its name, for messages; what counts is its digest, in `settings`.
    """

    folder: Path
    model: str
    settings: dict[str, Any]

    @classmethod
    def open(cls, folder: Path, target: Format, settings: Settings, *, force: bool) -> FolderRecord:
        """The record of a folder that may be filled; refused if something else filled it, unless `force`."""
        _refuse_parts(folder)
        record = cls(folder, settings.model, made_by(settings) | {"to": target.name})
        there = _load(folder / RECORD)
        if there is None or force or not any(visible(folder)):
            return record
        if there["format"] == _EARLIER:
            raise DisconerError(
                "This folder was filled by an earlier version of disconer, which did not record the inputs",
                where=Where(str(folder)),
                fix=OTHER_FOLDER,
            )
        if there["settings"] != record.settings:
            raise DisconerError(
                "This folder was filled with other settings",
                where=Where(str(folder)),
                got=difference(_named(there["settings"], there["model"]), _named(record.settings, record.model)),
                fix=OTHER_FOLDER,
            )
        record.model = there["model"]
        return record

    @property
    def made_by(self) -> str:
        """A digest of model and settings."""
        return blake2b(json.dumps(self.settings, sort_keys=True).encode(), digest_size=_DIGEST_BYTES).hexdigest()

    def origins(self) -> Origins:
        return Origins.load(self.folder, self.made_by)

    def save(self) -> None:
        content = {"format": FORMAT_VERSION, "model": self.model, "settings": self.settings}
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / RECORD, json.dumps(content, indent=1).encode())


def _load(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_bytes())
        known = content["format"] in (FORMAT_VERSION, _EARLIER)
        if known and isinstance(content["settings"], dict) and "model" in content:
            return dict(content)
        raise ValueError(f"format {content['format']}")
    except (ValueError, KeyError, TypeError) as error:
        raise DisconerError(
            "This is not the record of an output folder",
            where=Where(str(path)),
            got=f"{type(error).__name__}: {error}",
            fix="Choose another folder for --out, or remove this file and add --force.",
        ) from error


def _named(settings: dict[str, Any], model: str) -> dict[str, Any]:
    """The settings with a model name that users recognise."""
    return settings | {"model": f"{model} (digest {str(settings.get('model'))[:_SHOWN_DIGITS]})"}


def visible(folder: Path) -> Iterable[Path]:
    """The files of a folder. Folders that a run left empty hold nothing that could be taken for an output."""
    paths = (path for path in folder.rglob("*") if not path.is_dir()) if folder.is_dir() else ()
    return (path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def n_outputs(folder: Path, target: Format) -> int:
    """The number of files that a run could take for its outputs."""
    return sum(path.name.endswith(target.suffixes[0]) for path in visible(folder))


def _refuse_parts(folder: Path) -> None:
    shards = folder.glob(_SHARDS) if not (folder / RECORD).exists() else ()  # else the user named inputs like that
    if any(shards) or any(folder.glob(_RAY)):
        raise DisconerError(
            "This folder holds the parts of a prediction with --shard or --ray, which other outputs would be read with",
            where=Where(str(folder)),
            fix="Choose another folder for --out.",
        )


def refuse_outputs(folder: Path) -> None:
    """Refuse a folder with an output for each input, for the parts of a prediction."""
    record = folder / RECORD
    if not record.exists():
        return
    if any(visible(folder)):
        raise DisconerError(
            "This folder holds outputs of single inputs, which parts would be read with",
            where=Where(str(folder)),
            fix="Choose another folder for --out.",
        )
    record.unlink()  # of a run that wrote nothing
