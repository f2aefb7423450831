"""The record of what made a folder's outputs, so that a later run never takes another model's outputs for its own."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.formats import Format
from disconer.predict.local.manifest import difference, made_by
from disconer.predict.settings import Settings

RECORD = ".disconer.json"  # in the folder; readers skip names that start with a dot
FORMAT_VERSION = 1
_SHOWN_DIGITS = 8
_KEYS = {"model", "settings", "outdated"}
_FIX = "Choose another folder for --out, or add --force to predict everything again."


@dataclass(slots=True)
class FolderRecord:
    """The settings that made a folder's outputs.

    model: its name, for messages; what counts is its digest, in `settings`.
    outdated: outputs that other settings made, which --force has left behind. They do not count as done.
    exists: whether the folder had a record before this run.
    """

    folder: Path
    model: str
    settings: dict[str, Any]
    outdated: set[str] = field(default_factory=set)
    exists: bool = False

    @classmethod
    def open(cls, folder: Path, target: Format, settings: Settings, *, skip_bad: bool, force: bool) -> FolderRecord:
        """The record of a folder that may be filled; refused if something else filled it, unless `force`."""
        now = made_by(settings, skip_bad=skip_bad) | {"to": target.name}
        there = _load(folder / RECORD)
        outputs = _outputs(folder, target)
        if there is None:
            return cls(folder, settings.model, now, outputs if force else set())
        if there["settings"] in (now, now | {"skip_bad": False}):  # outputs made without skipping lack nothing
            return cls(folder, there["model"], now, set(there["outdated"]), exists=True)
        if force or not any(_visible(folder)):
            return cls(folder, settings.model, now, outputs | set(there["outdated"]), exists=True)
        raise DisconerError(
            "This folder was filled with other settings",
            where=Where(str(folder)),
            got=difference(_named(there["settings"], there["model"]), _named(now, settings.model)),
            fix=_FIX,
        )

    def is_current(self, output: Path) -> bool:
        """Whether an existing output was made with these settings."""
        if not self.exists and str(output.relative_to(self.folder)) not in self.outdated:
            raise DisconerError(
                "This output already exists, and the folder has no record of the model and settings that made it",
                where=Where(str(output)),
                fix=_FIX,
            )
        return str(output.relative_to(self.folder)) not in self.outdated

    @contextmanager
    def kept(self) -> Iterator[set[str]]:
        """Keep the record while a run fills the folder, and after it. Yields a set for the outputs that it writes."""
        self.save()
        self.exists = True
        renewed: set[str] = set()
        try:
            yield renewed
        finally:
            if not self.outdated.isdisjoint(renewed):
                self.save(renewed)

    def save(self, renewed: Collection[str] = ()) -> None:
        """Write the record. renewed: outputs that this run has written."""
        self.outdated.difference_update(renewed)
        content = {
            "format": FORMAT_VERSION,
            "model": self.model,
            "settings": self.settings,
            "outdated": sorted(self.outdated),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / RECORD, json.dumps(content, indent=1).encode())


def _load(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_bytes())
        if content["format"] == FORMAT_VERSION and isinstance(content["settings"], dict) and content.keys() >= _KEYS:
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


def _visible(folder: Path) -> Iterable[Path]:
    """The files of a folder. Folders that a run left empty hold nothing that could be taken for an output."""
    paths = (path for path in folder.rglob("*") if not path.is_dir()) if folder.is_dir() else ()
    return (path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def _outputs(folder: Path, target: Format) -> set[str]:
    """Files that a run would take for its outputs."""
    return {str(path.relative_to(folder)) for path in _visible(folder) if path.name.endswith(target.suffixes[0])}
