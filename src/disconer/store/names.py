"""Trained models by name or path, the default model, and a summary of each. No torch here."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.core.places import BUNDLED_MODELS, CONFIG, ONNX_GRAPH, RUN_FOLDERS, WEIGHTS, user_folder
from disconer.store.graphs import GRAPHS_FOLDER, NETWORK, ONNX

MODEL_VARIABLE = "DISCONER_MODEL"
DEFAULT = "clinical-trials"  # the default
DEMO = "demo"
_MODEL_FILES = [CONFIG, WEIGHTS, "*.onnx", "onnx/*", "tokenizer*", "words.json", "README.md"]


def own_models() -> Path:
    """The folder for the user's models, which can be used by name."""
    return user_folder() / "models"


def demo_folder() -> Path:
    """Where `disconer demo` saves its model."""
    return own_models() / DEMO


def default_model() -> str:
    """The default model: $DISCONER_MODEL, or a bundled one."""
    return os.environ.get(MODEL_VARIABLE) or DEFAULT


def named_models() -> dict[str, Path]:
    """The models that can be used by name, with their folders: bundled ones first, then the user's own."""
    found: dict[str, Path] = {}
    for root in (BUNDLED_MODELS, own_models()):
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if model := _model_within(folder):
                found.setdefault(folder.name, model)
    return dict(sorted(found.items(), key=lambda item: item[0] != DEFAULT))


def find_model(name_or_path: str | os.PathLike[str]) -> Path:
    """The folder of a model: a folder itself or a training run's best, a model by name, an installed package, or a name
    on the Hub.
    """
    folder = Path(name_or_path)
    found = _model_within(folder) or named_models().get(str(name_or_path))
    if found or folder.exists():
        return found or folder
    from disconer.nn.encoders.hub import package_folders

    for candidate in package_folders(str(name_or_path)):
        if found := _model_within(candidate):
            return found
    return _from_hub(str(name_or_path))


def _model_within(folder: Path) -> Path | None:
    for candidate in (folder, *(folder / name for name in RUN_FOLDERS)):
        if any((candidate / name).is_file() for name in (WEIGHTS, ONNX_GRAPH)):
            return candidate
    return None


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download

    from disconer.nn.encoders.hub import why_not_on_hub

    try:
        return Path(snapshot_download(name, allow_patterns=_MODEL_FILES, local_files_only=True))
    except (OSError, ValueError):  # not in the cache
        reason = why_not_on_hub(name)
    if reason:
        raise DisconerError(
            "There is no such model: no folder, no known name, no installed package, nothing in the Hugging Face "
            "cache, and it could not be downloaded from the Hub",
            where=Where(name),
            got=reason,
            fix=f"{_meant(name)}See `disconer models`, or give the folder that `disconer train` wrote.",
        )
    return Path(snapshot_download(name, allow_patterns=_MODEL_FILES))


def _meant(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name.lower(), named_models(), 1)
    return f"Did you mean {close[0]!r}? " if close else ""


CARD = "README.md"
RELEASE = "release"  # the key in config.json of the release record; see `disconer.store.release`
_FRONT = "---\n"  # around the metadata of a card


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be used by name.

    title: the kind of text. data: the training data. licence: of that data. Empty for models without a release
        record.
    f1, discontinuous_f1: by split, of all and of discontinuous entities, if measured.
    size: of its files, in bytes.
    runtimes: what can run it.
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
    runtimes: tuple[str, ...]

    @property
    def is_default(self) -> bool:
        return self.name == DEFAULT

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"folder": str(self.folder), "default": self.is_default}


def known_models() -> list[KnownModel]:
    """All of them, the default first."""
    return [_known(name, folder) for name, folder in named_models().items()]


def card_of(name: str) -> str:
    """The text of a model's card, by the model's name or path."""
    path = find_model(name) / CARD
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DisconerError(
            "This model has no card", where=Where(str(path)), fix="`disconer models` lists models with a card."
        ) from error
    return text.split(_FRONT, 2)[2].lstrip() if text.startswith(_FRONT) else text


def description_of(name: str) -> dict[str, Any]:
    """The config.json of a model, by its name or path."""
    from disconer.store.description import read_description

    return read_description(find_model(name))


def _known(name: str, folder: Path) -> KnownModel:
    try:
        return _from_description(name, folder, _described(folder))
    except (AttributeError, KeyError, TypeError, RecursionError):  # a damaged one is listed, and loading it says why
        return _from_description(name, folder, {})


def _from_description(name: str, folder: Path, described: dict[str, Any]) -> KnownModel:
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
        size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        runtimes=_runtimes(folder),
    )


def _runtimes(folder: Path) -> tuple[str, ...]:
    has_graphs, has_weights = (folder / GRAPHS_FOLDER / f"{NETWORK}{ONNX}").is_file(), (folder / WEIGHTS).is_file()
    runs = {"onnx": has_graphs or (folder / ONNX_GRAPH).is_file(), "torch": has_weights}
    return tuple(runtime for runtime, does in runs.items() if does)


def _described(folder: Path) -> dict[str, Any]:
    try:
        described = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}  # it is listed, and loading it reports the error
    return described if isinstance(described, dict) else {}
