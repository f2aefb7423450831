"""Encodings of ELMo: from what was published, and from a model folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where, excerpt
from disconer.core.folders import CONFIG
from disconer.nn.encoders.elmo.encoder import ElmoWords
from disconer.nn.encoders.elmo.options import ElmoOptions
from disconer.nn.encoders.elmo.reader import ElmoReader
from disconer.nn.encoders.elmo.weights import read_weights
from disconer.nn.encoders.encoder import Encoding
from disconer.nn.encoders.packages import package_folders

OPTIONS, WEIGHTS = "*options.json", "*weights.hdf5"  # published ones have longer names that end so


def load_elmo_encoding(config: EncoderConfig) -> Encoding:
    """A published ELMo: a folder, or a package, that holds options.json and weights.hdf5."""
    options_path, weights_path = _locate(config.name)
    options = _options(options_path)
    encoder = ElmoWords(options=options)
    try:
        encoder.bilm.load_state_dict(read_weights(weights_path, options))
    except RuntimeError as error:
        raise DisconerError(
            f"These weights of ELMo do not belong to the {options_path.name} beside them",
            where=Where(str(weights_path)),
            got=excerpt(" ".join(str(error).split()), 160),
            fix="Copy or download both again.",
        ) from error
    return Encoding(encoder, ElmoReader())


def build_elmo_encoding(description: Mapping[str, Any], folder: Path) -> Encoding:
    """What a model folder describes; the weights are still to be loaded."""
    try:
        encoder = ElmoWords(options=ElmoOptions.described(description))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DisconerError(
            "The ELMo of this model cannot be built from its description",
            where=Where(str(folder / CONFIG)),
            got=str(error),
            fix="Copy the model again, whole.",
        ) from error
    return Encoding(encoder, ElmoReader())


def _locate(name: str) -> tuple[Path, Path]:
    for folder in (Path(name), *package_folders(name)):
        options, weights = sorted(folder.glob(OPTIONS)), sorted(folder.glob(WEIGHTS))
        if len(options) == len(weights) == 1:
            return options[0], weights[0]
    raise DisconerError(
        f"There is no ELMo {name!r}",
        expected="a folder with one options.json and one weights.hdf5, as ELMo is published",
        fix="Check encoder.name.",
    )


def _options(path: Path) -> ElmoOptions:
    try:
        return ElmoOptions.published(json.loads(path.read_bytes()))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DisconerError(
            "These are not the options of an ELMo",
            where=Where(str(path)),
            got=f"{type(error).__name__} {error}",
            expected="options.json as it is published, with char_cnn and lstm",
            fix="Copy or download it again.",
        ) from error
