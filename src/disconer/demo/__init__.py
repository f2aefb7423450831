"""The demo: a small model of the eligibility criteria of clinical trials, trained on bundled data.

The data is an excerpt of Chia (Kury et al. 2020, CC BY 4.0), described in the README.md next to it.

May import `config` and all below it.
"""

from __future__ import annotations

import json
from importlib.resources import files

from disconer.config import Config, load_config

EPOCHS = 6
SENTENCE = "Severe cardiac, hepatic or renal insufficiency within the last 6 months."


def demo_config(epochs: int = EPOCHS) -> Config:
    """How the demo model is trained."""
    data = [f"data.{split}={json.dumps(_path(split))}" for split in ("train", "dev")]
    settings = str(files("disconer.demo").joinpath("config.yaml"))
    return load_config(settings, [*data, "data.format=jsonl", f"training.epochs={epochs}"])


def _path(split: str) -> str:
    return str(files("disconer.demo").joinpath("criteria", f"{split}.jsonl.gz"))
