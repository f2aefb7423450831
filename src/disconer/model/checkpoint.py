"""Models on disk: config.json, model.safetensors, tokenizer files. No pickle; loading runs no code."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from disconer import __version__
from disconer.config import Config
from disconer.errors import DisconerError, Where
from disconer.model.build import build_network
from disconer.model.network import AnyNetwork
from disconer.model.pieces import PieceTokenizer
from disconer.model.resolve import max_pieces, without_pooler

FORMAT_VERSION = 1  # of the folder's layout; raised when older code could not read it
CONFIG, WEIGHTS = "config.json", "model.safetensors"


@dataclass(frozen=True, slots=True)
class Model:
    """A network with what is needed to run it."""

    network: AnyNetwork
    tokenizer: PieceTokenizer
    config: Config
    labels: tuple[str, ...]

    @property
    def transformer(self) -> nn.Module:
        return self.network.words.encoder.transformer

    @property
    def max_pieces(self) -> int:
        limit = max_pieces(self.transformer)
        return min(limit, self.config.encoder.max_pieces or limit)


def save_model(model: Model, folder: Path) -> None:
    """Write a model folder. The weights come last and appear at once: a folder that loads is always whole."""
    folder.mkdir(parents=True, exist_ok=True)
    description = {
        "disconer": __version__,
        "format": FORMAT_VERSION,
        "labels": list(model.labels),
        "config": model.config.to_dict(),
        "encoder": model.transformer.config.to_dict(),  # type: ignore[union-attr, operator]
    }
    replace_file(folder / CONFIG, json.dumps(description, indent=2, ensure_ascii=False).encode())
    model.tokenizer.tokenizer.save_pretrained(folder)
    save_weights(model.network, folder / WEIGHTS)


def save_weights(network: nn.Module, path: Path) -> None:
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    replace_file(path, save(tensors))


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that its old or its new content is there at any moment."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)


def load_model(folder: Path) -> Model:
    """Read a model folder."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    description = _read_description(folder)
    labels = tuple(description["labels"])
    config = Config.model_validate(description["config"])
    encoder_config = dict(description["encoder"])
    encoder = AutoConfig.for_model(encoder_config.pop("model_type"), **encoder_config)
    transformer = AutoModel.from_config(encoder, dtype=torch.float32)  # type: ignore[no-untyped-call]
    network = build_network(config, labels, without_pooler(transformer))
    _load_weights(network, folder / WEIGHTS)
    tokenizer = PieceTokenizer(AutoTokenizer.from_pretrained(folder, use_fast=True, local_files_only=True))
    network.eval()
    return Model(network, tokenizer, config, labels)


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    where = Where(str(path))
    try:
        description = json.loads(path.read_text("utf-8"))
        version = description["format"]
        missing = {"labels", "config", "encoder"} - description.keys()
    except FileNotFoundError as error:
        raise DisconerError("There is no model here", where=Where(str(folder)), expected=f"a {CONFIG}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DisconerError(
            "This is not a disconer model's configuration", where=where, got=repr(error), fix="Copy the model again."
        ) from error
    if version != FORMAT_VERSION or missing:
        raise DisconerError(
            "This model was written by another version of disconer",
            where=where,
            got=f"format {version} of disconer {description.get('disconer')}",
            expected=f"format {FORMAT_VERSION}, which disconer {__version__} reads",
            fix="Install the version that wrote it, or train the model again.",
        )
    return dict(description)


def _load_weights(network: nn.Module, path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(path)
        network.load_state_dict(tensors)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DisconerError(
            "The weights of this model are damaged or belong to another one",
            where=Where(str(path)),
            got=str(error).split("\n")[0],
            fix="Copy the model again, whole.",
        ) from error
