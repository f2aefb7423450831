"""Loading ELMo: its published weights (HDF5), or those of a model folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where, excerpt
from disconer.core.places import CONFIG
from disconer.nn.encoders.elmo import ElmoOptions, ElmoReader
from disconer.nn.encoders.elmo.encoder import ElmoWords
from disconer.nn.encoders.hub import package_folders
from disconer.nn.interfaces import Encoding

Floats: TypeAlias = NDArray[np.float32]
FORGET_BIAS = 1.0  # added to the forget gate by the original ELMo at run time


def read_weights(path: Path, options: ElmoOptions) -> dict[str, Tensor]:
    """The parameters of `BiLm`."""
    try:
        import h5py
    except ImportError as error:
        raise DisconerError(
            "The weights of ELMo are in an HDF5 file, which needs h5py",
            where=Where(str(path)),
            fix="Install it: pip install 'disconer[elmo]', or pip install h5py. A trained model does not need it.",
        ) from error
    try:
        with h5py.File(path, "r") as file:
            arrays = {**_letters(file, options), **_lstms(file, options)}
    except (OSError, KeyError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise _damaged(path, "NaN or infinite numbers")
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}


def _letters(file: Any, options: ElmoOptions) -> dict[str, Floats]:
    embedding = _array(file, "char_embed")
    nothing = np.zeros_like(embedding[:1])  # for padding between words, which is not a character
    arrays = {
        "words.letters.weight": np.concatenate([nothing, embedding]),
        "words.projection.weight": _array(file, "CNN_proj/W_proj").T,
        "words.projection.bias": _array(file, "CNN_proj/b_proj"),
    }
    for number in range(len(options.filters)):
        kernel = _array(file, f"CNN/W_cnn_{number}")[0]  # (width, letter_size, count)
        arrays[f"words.convolutions.{number}.weight"] = kernel.transpose(2, 1, 0)
        arrays[f"words.convolutions.{number}.bias"] = _array(file, f"CNN/b_cnn_{number}")
    for number in range(options.highways):
        for ours, theirs in (("transform", "transform"), ("gate", "carry")):
            arrays[f"words.highways.{number}.{ours}.weight"] = _array(file, f"CNN_high_{number}/W_{theirs}").T
            arrays[f"words.highways.{number}.{ours}.bias"] = _array(file, f"CNN_high_{number}/b_{theirs}")
    return arrays


def _lstms(file: Any, options: ElmoOptions) -> dict[str, Floats]:
    arrays: dict[str, Floats] = {}
    for number in range(options.layers):
        cells = [f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell" for direction in (0, 1)]
        weights = np.stack([_array(file, f"{cell}/W_0") for cell in cells])  # (2, input and word, gates)
        bias = np.stack([_array(file, f"{cell}/B") for cell in cells])
        bias[:, 2 * options.cells : 3 * options.cells] += FORGET_BIAS
        arrays |= {
            f"lstms.{number}.from_input": weights[:, : options.word_size],
            f"lstms.{number}.from_word": weights[:, options.word_size :],
            f"lstms.{number}.bias": bias,
            f"lstms.{number}.projection": np.stack([_array(file, f"{cell}/W_P_0") for cell in cells]),
        }
    return arrays


def _array(file: Any, name: str) -> Floats:
    if name not in file:
        raise KeyError(f"no {name} in it")
    array: Floats = file[name][...].astype(np.float32)
    return array


def _damaged(path: Path, got: str) -> DisconerError:
    return DisconerError(
        "These are not weights of ELMo, or they are damaged",
        where=Where(str(path)),
        got=got.strip("'\""),
        fix="Copy or download them again, with the options.json that belongs to them.",
    )


OPTIONS, WEIGHTS = "*options.json", "*weights.hdf5"  # names of published files end so


def load_elmo_encoding(config: EncoderConfig) -> Encoding:
    """A published ELMo: a folder, or a package, that holds options.json and weights.hdf5."""
    options_path, weights_path = _locate(config.name)
    options = _options(options_path)
    encoder = ElmoWords(options=options)
    try:
        encoder.bilm.load_state_dict(read_weights(weights_path, options))
    except RuntimeError as error:
        raise DisconerError(
            f"These weights of ELMo do not belong to the {options_path.name} next to them",
            where=Where(str(weights_path)),
            got=excerpt(" ".join(str(error).split()), 160),
            fix="Copy or download both again.",
        ) from error
    return Encoding(encoder, ElmoReader())


def build_elmo_encoding(description: Mapping[str, Any], folder: Path) -> Encoding:
    """The encoder that a model folder describes; weights are loaded later."""
    try:
        encoder = ElmoWords(options=ElmoOptions.described(description))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DisconerError(
            "The ELMo of this model cannot be built from its description",
            where=Where(str(folder / CONFIG)),
            got=str(error),
            fix="Copy the complete model again.",
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
