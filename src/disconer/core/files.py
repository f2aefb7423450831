"""Atomic file writing, and the paths of user files, bundled data and model folders."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically: at any moment it has its old or its new content."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)


CACHE_VARIABLE = "DISCONER_CACHE"
BUNDLED = Path(__file__).parents[1] / "bundled"
BUNDLED_MODELS = BUNDLED / "models"  # each in a folder of its name
BUNDLED_ENCODERS = BUNDLED / "encoders"  # likewise

# The files that identify a model folder.
CONFIG, WEIGHTS, ONNX_GRAPH = "config.json", "model.safetensors", "network.onnx"
RUN_FOLDERS = ("best", "last")  # the models of a training run


def user_folder() -> Path:
    """The system's folder for the user's disconer files."""
    from platformdirs import user_data_path

    return user_data_path("disconer", appauthor=False)


def cache_folder() -> Path:
    """The cache folder: $DISCONER_CACHE, or disconer's part of the user's cache."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else user_cache_path("disconer", appauthor=False)
