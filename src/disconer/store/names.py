"""Trained models by name or path, and the one that is used when none is named. No torch here."""

from __future__ import annotations

import os
from pathlib import Path

from disconer.core.errors import DisconerError, Where
from disconer.core.folders import BUNDLED_MODELS, CONFIG, ONNX_GRAPH, RUN_FOLDERS, WEIGHTS, user_folder

MODEL_VARIABLE = "DISCONER_MODEL"
DEFAULT = "clinical-trials"  # the one of them for those who name none
DEMO = "demo"
_MODEL_FILES = [CONFIG, WEIGHTS, "*.onnx", "tokenizer*", "words.json", "README.md"]


def own_models() -> Path:
    """Where a user may keep models, to use them by name."""
    return user_folder() / "models"


def demo_folder() -> Path:
    """Where `disconer demo` leaves its model."""
    return own_models() / DEMO


def default_model() -> str:
    """The model for those who name none: $DISCONER_MODEL, or the default of those that come with disconer."""
    return os.environ.get(MODEL_VARIABLE) or DEFAULT


def named_models() -> dict[str, Path]:
    """The models that can be used by name, with their folders: those that come with disconer, then the user's own."""
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
    from disconer.nn.encoders.packages import package_folders

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
            "There is no such model: no folder, none of that name, no installed package, nothing in the Hugging Face "
            "cache, and the Hub did not give it",
            where=Where(name),
            got=reason,
            fix="`disconer models` lists those that have names; or give the folder that `disconer train` wrote.",
        )
    return Path(snapshot_download(name, allow_patterns=_MODEL_FILES))
