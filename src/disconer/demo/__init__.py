"""The demo: a small model of the eligibility criteria of clinical trials, trained on bundled data.

The data is an excerpt of Chia (Kury et al. 2020, CC BY 4.0), described in the README.md next to it.

May import `config` and all below it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from disconer.config import Config, config_from_dict

EPOCHS = 6
SENTENCE = "Severe cardiac, hepatic or renal insufficiency within the last 6 months."

# Small data, small batches, default learning rates (an encoder rate of 2e-4 cost 8 points of F1). No adversarial
# training, which would take half as long again, and no more epochs than the user asks for.
_SETTINGS: dict[str, Any] = {
    "encoder": {"dropout": 0.2},
    "head": {"max_width": 12, "fragments": {"dropout": 0.2}, "relations": {"dropout": 0.2}},
    "training": {"batch_tokens": 128, "adversarial": 0.0, "steps_at_least": 0},
}


def demo_config(epochs: int = EPOCHS) -> Config:
    """How the demo model is trained."""
    data = {"train": _path("train"), "dev": _path("dev"), "format": "jsonl"}
    training = {**_SETTINGS["training"], "epochs": epochs}
    return config_from_dict({**_SETTINGS, "data": data, "training": training})


def _path(split: str) -> str:
    return str(files("disconer.demo").joinpath(f"{split}.jsonl.gz"))
