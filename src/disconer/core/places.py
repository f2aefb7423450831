"""Where things are: the user's files, the cache, bundled models and encoders, the files of models and runs."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "DISCONER_CACHE"
BUNDLED = Path(__file__).parents[1] / "bundled"
BUNDLED_MODELS = BUNDLED / "models"  # each in a folder of its name
BUNDLED_ENCODERS = BUNDLED / "encoders"  # likewise

# The files that identify a model folder.
CONFIG, WEIGHTS, ONNX_GRAPH = "config.json", "model.safetensors", "network.onnx"
RUN_FOLDERS = ("best", "last")  # the models of a training run

# What a run can be resumed from, below its folder.
TRAINING_STATE, ADAPTATION_STATE = "training.pt", "adaptation/state.pt"


def is_bundled(path: Path) -> bool:
    """Whether a file is part of disconer, and so trusted as its code is: it need not be checked each time."""
    return path.resolve().is_relative_to(BUNDLED.resolve())


def user_folder() -> Path:
    """The system's folder for the user's disconer files."""
    from platformdirs import user_data_path

    return user_data_path("disconer", appauthor=False)


def cache_folder() -> Path:
    """The cache folder: $DISCONER_CACHE, or disconer's part of the user's cache."""
    from platformdirs import user_cache_path

    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else user_cache_path("disconer", appauthor=False)
