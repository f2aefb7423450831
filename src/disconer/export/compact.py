"""Compact models: a quarter of the size, loaded like any other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from disconer.core.files import replace_file
from disconer.core.places import WEIGHTS
from disconer.nn.encoders.transformer.bundled import base_of, digest, is_base
from disconer.nn.weights import rounded_weights, write_weights
from disconer.store.checkpoint import Model, describe, save_graphs
from disconer.store.description import COMPACT, CompactDescription, write_description


def save_compact(model: Model, folder: Path) -> None:
    """Write a folder that `load_model` reads, as small as possible; the weights are written last."""
    folder.mkdir(parents=True, exist_ok=True)
    encoder = model.config.encoder.name
    base: Mapping[str, Tensor] = {}
    compact = CompactDescription()
    if is_base(encoder, model.network.words.encoder.description()):
        base = base_of(model.network, encoder)
        compact = CompactDescription(base=encoder, base_digest=digest(encoder))
    write_description(folder, describe(model) | {COMPACT: asdict(compact)})
    model.reader.save(folder)
    for path in folder.glob("tokenizer*.json"):
        squeeze(path)
    save_graphs(model, folder)
    write_weights(rounded_weights(model.network, base), folder / WEIGHTS)


def squeeze(path: Path) -> None:
    """JSON without whitespace, which saves a third of a vocabulary."""
    content = json.loads(path.read_bytes())
    replace_file(path, json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())
