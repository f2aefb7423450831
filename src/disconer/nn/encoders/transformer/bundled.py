"""Bundled encoders: stored compactly, and the base of models that store only what changed.

Importing this loads no torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disconer.core.errors import DisconerError, Where
from disconer.core.places import BUNDLED_ENCODERS, CONFIG

if TYPE_CHECKING:
    from torch import Tensor, nn

COMPACT_WEIGHTS = "compact.safetensors"  # of an encoder's folder, where others have model.safetensors
SHAPES = (  # what an encoder's configuration says that decides the shapes of its weights
    "model_type",
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "max_position_embeddings",
    "type_vocab_size",
)
IN_NETWORK = "words.encoder.transformer."  # what a network calls the weights of its encoder


def is_compact(folder: str | Path) -> bool:
    return (Path(folder) / COMPACT_WEIGHTS).is_file()


def save_compact_encoder(transformer: Any, folder: Path) -> None:
    """Write an encoder of transformers; its tokenizer is written by itself."""
    from disconer.nn.weights import rounded_weights, write_weights

    folder.mkdir(parents=True, exist_ok=True)
    transformer.config.save_pretrained(folder)
    write_weights(rounded_weights(transformer), folder / COMPACT_WEIGHTS)


def load_compact_weights(transformer: nn.Module, folder: str | Path) -> None:
    """Give an encoder that has been built the weights of a folder."""
    from safetensors.torch import load_file

    from disconer.nn.weights import full_weights

    stored = load_file(Path(folder) / COMPACT_WEIGHTS)
    transformer.load_state_dict(full_weights(stored, like=transformer.state_dict()))


def is_base(encoder: str, description: Mapping[str, Any]) -> bool:
    """Whether an encoder is bundled and has weights of the same shapes as one so described."""
    folder = BUNDLED_ENCODERS / encoder
    if folder.parent != BUNDLED_ENCODERS or not is_compact(folder):  # a path may lead to a compact encoder elsewhere
        return False
    own = json.loads((folder / CONFIG).read_bytes())
    return all(own.get(name) == description.get(name) for name in SHAPES)


def base_of(network: nn.Module, encoder: str) -> Mapping[str, Tensor]:
    """The weights that a network's encoder had before it was trained, by the network's names for them."""
    from safetensors.torch import load_file

    from disconer.nn.weights import full_weights

    own = {
        name.removeprefix(IN_NETWORK): weight
        for name, weight in network.state_dict().items()
        if name.startswith(IN_NETWORK)
    }
    weights = full_weights(load_file(BUNDLED_ENCODERS / encoder / COMPACT_WEIGHTS), like=own)
    return {IN_NETWORK + name: weight for name, weight in weights.items()}


def digest(encoder: str) -> str:
    """A digest to check that a bundled encoder is the one that a model was made with."""
    found = sha256()
    with (BUNDLED_ENCODERS / encoder / COMPACT_WEIGHTS).open("rb") as file:
        for part in iter(partial(file.read, 2**20), b""):
            found.update(part)
    return found.hexdigest()


def check_base(encoder: str, expected: str, folder: Path) -> None:
    bundled = BUNDLED_ENCODERS / encoder
    is_name = bundled.parent == BUNDLED_ENCODERS and encoder not in (".", "..")  # a path would lead to other files
    if not is_name or not is_compact(BUNDLED_ENCODERS / encoder) or digest(encoder) != expected:
        raise DisconerError(
            f"This model stores differences from the bundled encoder {encoder!r}, which this disconer does not have",
            where=Where(str(folder)),
            fix="Use the version of disconer that wrote the model, or save the complete model there: "
            "`Recognizer.from_pretrained(MODEL, runtime='torch').save_pretrained(FOLDER)`.",
        )
