"""Models on small tables of word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from disconer.config import Config
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.network import build_network
from disconer.store.checkpoint import Model
from nn.toy import toy_config

WORDS = ["the", "pain", "stiffness", "knees", "aspirin", "and", "in", "my", "No", "00", "."]
SIZE = 6


def save_vectors(folder: Path, words: Sequence[str] = WORDS, size: int = SIZE) -> str:
    """A file of random vectors, as people have theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors = np.random.default_rng(5).normal(size=(len(words), size)).round(3)
    path = folder / "vectors.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors, strict=True)))
    return str(path)


def vectors_config(folder: Path, **knobs: Any) -> Config:
    return toy_config(encoder={"kind": "vectors", "name": save_vectors(folder)} | knobs)


def vectors_model(folder: Path, words: Sequence[str] = WORDS, **knobs: Any) -> Model:
    config = vectors_config(folder, **knobs)
    torch.manual_seed(0)
    encoding = ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, lambda: words)
    labels = ("ADR", "Drug")
    return Model(build_network(config, labels, encoding.encoder).eval(), encoding.reader, config, labels)
