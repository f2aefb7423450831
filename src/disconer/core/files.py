"""Files that are there whole or not at all, and where things lie: user files, bundled data, model folders."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that its old or its new content is there at any moment."""
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

# The files of a model folder by which others know it.
CONFIG, WEIGHTS, ONNX_GRAPH = "config.json", "model.safetensors", "network.onnx"
RUN_FOLDERS = ("best", "last")  # where a training run keeps its models


def user_folder() -> Path:
    """Where a user's own disconer files belong, as the system has it."""
    from platformdirs import user_data_path

    return user_data_path("disconer", appauthor=False)


def cache_folder() -> Path:
    """Where things are kept that can be made again: $DISCONER_CACHE, or disconer's part of the user's cache."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else user_cache_path("disconer", appauthor=False)
