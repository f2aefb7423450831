"""The identity of a prediction, and manifests: a small file next to each part that describes it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from disconer.core.corpus import labels_named
from disconer.core.errors import DisconerError, Where, listed
from disconer.core.places import CONFIG
from disconer.core.version import __version__
from disconer.formats.target import new_file
from disconer.predict.inputs import Share, Unit
from disconer.predict.local.messages import part_from_dict
from disconer.predict.local.parts import Part
from disconer.predict.settings import Settings
from disconer.store.names import RELEASE, find_model

_DIGEST_BYTES = 16
_CHUNK = 2**20
_CARD_SUFFIX = ".md"  # of the model card, which has metrics too
# Not in the identity: the model's path, its device and its runtime may differ between machines.
_ELSEWHERE = ("model", "device", "runtime")


@dataclass(frozen=True, slots=True)
class Identity:
    """What the parts of one output have in common.

    input: a digest of file names and sizes, relative to the given paths; what is in the files, each part knows of its
    own. model: a digest of its files.
    """

    input: str
    model: str
    settings: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All of it on one level."""
        return {"input": self.input, "model": self.model} | self.settings


def identify(inputs: Sequence[Unit], settings: Settings, *, skip_bad: bool) -> Identity:
    asked = _asked(settings) | {"skip_bad": skip_bad}
    return Identity(_input(inputs), model_identity(find_model(settings.model)), asked)


def made_by(settings: Settings) -> dict[str, Any]:
    """What an output depends on besides the input: the model's digest and all settings."""
    return {"model": model_identity(find_model(settings.model))} | _asked(settings)


def _asked(settings: Settings) -> dict[str, Any]:
    asked = {name: value for name, value in asdict(settings).items() if name not in _ELSEWHERE}
    labels = None if settings.labels is None else ",".join(sorted(set(labels_named(settings.labels))))
    return asked | {"labels": labels, "disconer": __version__}


def difference(there: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Two settings in words, where they differ: those of an existing output, and those asked for.

    >>> difference({"threshold": None, "labels": None}, {"threshold": 0.5, "labels": "ADR"})
    'outputs with threshold not given, labels not given; asked for threshold 0.5, labels ADR'
    """
    names = [name for name in now if there.get(name) != now[name]]
    before, after = (", ".join(f"{name} {_said(of.get(name))}" for name in names) for of in (there, now))
    return f"outputs with {before}; asked for {after}"


# What to say where only the content of the input differs.
CHANGED = "an input with the same names and sizes of files, but with another content"


def _said(value: object) -> str:
    return "not given" if value is None else str(value)


def _input(inputs: Sequence[Unit]) -> str:
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for unit in inputs:
        for member in unit.source:
            digest.update(f"{member.name}\n{member.size}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def model_identity(folder: Path) -> str:
    """A digest of all files of a model, without metrics, which may be added later."""
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


FORMAT_VERSION = 2
_EARLIER = 1  # without the content of the input


@dataclass(frozen=True, slots=True)
class Manifest:
    """A part and its origin."""

    part: Part
    identity: Identity

    def save(self) -> None:
        """Write it next to its part, which is then complete."""
        part = asdict(self.part) | {"path": self.part.path.name, "documents": self.part.n_documents}
        content = {"format": FORMAT_VERSION, "identity": asdict(self.identity), "part": part}
        with new_file(manifest_path(self.part.path.parent, self.part.share)) as stream:
            stream.write(json.dumps(content).encode())

    @classmethod
    def load(cls, path: Path) -> Manifest:
        try:
            content = json.loads(path.read_bytes())
            if content["format"] == _EARLIER:
                raise DisconerError(
                    "This part is of an earlier version of disconer, which did not record the content of its input",
                    where=Where(str(path)),
                    fix="Choose another folder for --out, or predict this part again, with --force.",
                )
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


MOST_NAMED = 20  # shards or parts in a message


def find_parts(folders: Iterable[Path]) -> list[Part]:
    """All parts of an output, in the order of their shards; missing or foreign parts are errors."""
    folders = list(folders)
    manifests = [Manifest.load(path) for folder in folders for path in sorted(folder.glob("part-*-of-*.json"))]
    where = Where(", ".join(map(str, folders)))
    if not manifests:
        raise DisconerError(
            "There are no complete parts here",
            where=where,
            expected="part-….jsonl files with their manifests, as `disconer predict --shard K/N -o FOLDER` writes them",
        )
    _check_alike(manifests, "cut into the same number of shards", lambda one: one.part.share.of)
    _check_complete([one.part.share for one in manifests], where)
    _check_alike(manifests, "of the same input (names and sizes of files)", lambda one: one.identity.input)
    _check_alike(manifests, "of the same input (content)", lambda one: (one.part.n_records, one.part.digest))
    _check_alike(manifests, "by the same model", lambda one: one.identity.model)
    _check_alike(manifests, "with the same settings", lambda one: one.identity.settings)
    parts = sorted((one.part for one in manifests), key=lambda part: part.share.number)
    if lost := [part.path.name for part in parts if not part.path.is_file()]:
        raise DisconerError(
            f"{listed(lost, MOST_NAMED)}: the manifest exists, but the part file is missing",
            where=where,
            fix="Copy the files here too.",
        )
    return parts


def _check_complete(shares: Sequence[Share], where: Where) -> None:
    found = Counter(share.number for share in shares)
    n = shares[0].of
    if missing := [str(Share(number, n)) for number in range(1, n + 1) if number not in found]:
        raise DisconerError(
            f"{len(missing)} of {n} parts are missing: {listed(missing, MOST_NAMED)}",
            where=where,
            fix=f"Predict them: --shard {missing[0]}, with the other options as before.",
        )
    if twice := [str(Share(number, n)) for number, times in sorted(found.items()) if times > 1]:
        raise DisconerError(f"Duplicate parts: {listed(twice, MOST_NAMED)}", where=where, fix="Give each folder once.")


def _check_alike(manifests: Sequence[Manifest], what: str, value: Callable[[Manifest], Any]) -> None:
    """All manifests must agree; those that differ from the majority are reported."""
    values = [repr(value(one)) for one in manifests]
    ((usual, _),) = Counter(values).most_common(1)
    if others := [one.part.path.name for one, own in zip(manifests, values, strict=True) if own != usual]:
        odd = next(own for own in values if own != usual)
        raise DisconerError(
            f"These parts are not all {what}: {listed(others, MOST_NAMED)} differ from the others",
            where=Where(str(manifests[0].part.path.parent)),
            got=odd,
            expected=usual,
            fix="Predict them again with the options of the others, or keep outputs in separate folders.",
        )
