"""Manifests: beside each part a small file that says what it is, by which finished parts are known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from disconer.core.errors import DisconerError, Where
from disconer.formats.target import new_file
from disconer.predict.local.identity import Identity
from disconer.predict.local.messages import part_from_dict
from disconer.predict.local.parts import Part
from disconer.predict.shares import Share

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """A part and what it was made of."""

    part: Part
    identity: Identity

    def save(self) -> None:
        """Write it beside its part, which counts as finished from then on."""
        part = asdict(self.part) | {"path": self.part.path.name, "documents": self.part.n_documents}
        content = {"format": FORMAT_VERSION, "identity": asdict(self.identity), "part": part}
        with new_file(manifest_path(self.part.path.parent, self.part.share)) as stream:
            stream.write(json.dumps(content).encode())

    @classmethod
    def load(cls, path: Path) -> Manifest:
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != FORMAT_VERSION:
                raise ValueError(f"format {content['format']}")
            part = content["part"]
            part.pop("documents")
            return cls(part_from_dict(part | {"path": path.parent / part["path"]}), Identity(**content["identity"]))
        except (ValueError, KeyError, TypeError) as error:
            raise DisconerError(
                "This is not the manifest of a part",
                where=Where(str(path)),
                got=f"{type(error).__name__}: {error}",
                fix="Copy it again, or remove it and predict its part again.",
            ) from error


def part_path(folder: Path, share: Share) -> Path:
    return folder / f"{share.file_name}.jsonl"


def manifest_path(folder: Path, share: Share) -> Path:
    return folder / f"{share.file_name}.json"
