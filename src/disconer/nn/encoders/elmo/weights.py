"""The published weights of ELMo (HDF5), by the names of our parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.elmo.options import ElmoOptions

Floats: TypeAlias = NDArray[np.float32]
FORGET_BIAS = 1.0  # what the first ELMo added to the forget gate while it ran


def read_weights(path: Path, options: ElmoOptions) -> dict[str, Tensor]:
    """The parameters of `BiLm`."""
    try:
        import h5py
    except ImportError as error:
        raise DisconerError(
            "The weights of ELMo are in an HDF5 file, which takes h5py to read",
            where=Where(str(path)),
            fix="Install it: pip install 'disconer[elmo]', or pip install h5py. A model trained on it needs none.",
        ) from error
    try:
        with h5py.File(path, "r") as file:
            arrays = {**_letters(file, options), **_lstms(file, options)}
    except (OSError, KeyError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise _damaged(path, "numbers that are none (NaN or infinite)")
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}


def _letters(file: Any, options: ElmoOptions) -> dict[str, Floats]:
    embedding = _array(file, "char_embed")
    nothing = np.zeros_like(embedding[:1])  # for padding between words, which no letter is
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
        "These weights of ELMo are damaged, or something else",
        where=Where(str(path)),
        got=got.strip("'\""),
        fix="Copy or download them again, whole, with the options.json that belongs to them.",
    )
