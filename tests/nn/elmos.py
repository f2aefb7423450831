"""A tiny ELMo as it is published, with random weights, and ELMo written down a second time, word by word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from disconer.nn.encoders.elmo import ElmoReader, letters_of

SIZE, CELLS, LETTER_SIZE = 5, 7, 3
FILTERS = [[1, 2], [3, 4]]
OPTIONS: dict[str, Any] = {
    "lstm": {
        "cell_clip": 0.4,
        "proj_clip": 0.2,
        "use_skip_connections": True,
        "n_layers": 2,
        "projection_dim": SIZE,
        "dim": CELLS,
    },
    "char_cnn": {
        "embedding": {"dim": LETTER_SIZE},
        "filters": FILTERS,
        "n_highway": 2,
        "n_characters": 262,
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}


def save_elmo(folder: Path, *, seed: int = 3) -> str:
    """options.json and weights.hdf5."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny_options.json").write_text(json.dumps(OPTIONS))
    rng = np.random.default_rng(seed)
    n_filters = sum(count for _, count in FILTERS)
    shapes: dict[str, tuple[int, ...]] = {
        "char_embed": (261, LETTER_SIZE),
        "CNN_proj/W_proj": (n_filters, SIZE),
        "CNN_proj/b_proj": (SIZE,),
    }
    for number, (width, count) in enumerate(FILTERS):
        shapes |= {f"CNN/W_cnn_{number}": (1, width, LETTER_SIZE, count), f"CNN/b_cnn_{number}": (count,)}
    for number in (0, 1):
        for gate in ("transform", "carry"):
            shapes |= {
                f"CNN_high_{number}/W_{gate}": (n_filters, n_filters),
                f"CNN_high_{number}/b_{gate}": (n_filters,),
            }
        for direction in (0, 1):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            shapes |= {
                f"{cell}/W_0": (2 * SIZE, 4 * CELLS),
                f"{cell}/B": (4 * CELLS,),
                f"{cell}/W_P_0": (CELLS, SIZE),
            }
    with h5py.File(folder / "tiny_weights.hdf5", "w") as file:
        for name, shape in shapes.items():
            file[name] = rng.normal(0, 0.7, shape).astype(np.float32)
    return str(folder)


def slow_layers(folder: Path, words: list[str]) -> list[np.ndarray]:
    """The three layers of one sentence, computed word by word from the published weights."""
    options = json.loads(next(folder.glob("*options.json")).read_text())
    with h5py.File(next(folder.glob("*weights.hdf5"))) as file:
        weights: dict[str, np.ndarray] = {}
        file.visititems(lambda name, item: weights.update({name: item[...]} if isinstance(item, h5py.Dataset) else {}))
    letters = [ElmoReader.prefix[0], *map(letters_of, words), ElmoReader.suffix[0]]
    tokens = [_token(numbers - 1, weights, options["char_cnn"]) for numbers in letters]
    layers = [np.concatenate([tokens, tokens], axis=1)]
    forward, backward = tokens, tokens[::-1]
    for number in range(options["lstm"]["n_layers"]):
        forward = _direction(forward, 0, number, weights, options["lstm"])
        backward = _direction(backward, 1, number, weights, options["lstm"])
        layers.append(np.concatenate([forward, backward[::-1]], axis=1))
    return [layer[1:-1] for layer in layers]


def _token(numbers: np.ndarray, weights: dict[str, np.ndarray], options: dict[str, Any]) -> np.ndarray:
    letters = weights["char_embed"][numbers]
    found = []
    for number, (width, _) in enumerate(options["filters"]):
        kernel = weights[f"CNN/W_cnn_{number}"][0]
        answers = [np.einsum("ws,wsc->c", letters[i : i + width], kernel) for i in range(len(letters) - width + 1)]
        found.append(np.maximum(np.max(answers, axis=0) + weights[f"CNN/b_cnn_{number}"], 0))
    vector = np.concatenate(found)
    for number in range(options["n_highway"]):
        part = {
            name: weights[f"CNN_high_{number}/{name}"] for name in ("W_carry", "b_carry", "W_transform", "b_transform")
        }
        carry = _sigmoid(vector @ part["W_carry"] + part["b_carry"])
        made = np.maximum(vector @ part["W_transform"] + part["b_transform"], 0)
        vector = carry * made + (1 - carry) * vector
    return vector @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]


def _direction(
    inputs: list[np.ndarray], direction: int, number: int, weights: dict[str, np.ndarray], options: dict[str, Any]
) -> list[np.ndarray]:
    name = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
    word, cell = np.zeros(options["projection_dim"]), np.zeros(options["dim"])
    outputs = []
    for vector in inputs:
        gates = np.concatenate([vector, word]) @ weights[f"{name}/W_0"] + weights[f"{name}/B"]
        enter, candidate, forget, leave = np.split(gates, 4)
        cell = _sigmoid(forget + 1) * cell + _sigmoid(enter) * np.tanh(candidate)
        cell = np.clip(cell, -options["cell_clip"], options["cell_clip"])
        word = (_sigmoid(leave) * np.tanh(cell)) @ weights[f"{name}/W_P_0"]
        word = np.clip(word, -options["proj_clip"], options["proj_clip"])
        outputs.append(word + vector if number and options["use_skip_connections"] else word)
    return outputs


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))
