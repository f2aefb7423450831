"""Compact models: small on disk, and the same model but for rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.torch import load_file, save_file
from torch import nn

from disconer import DisconerError
from disconer.export.compact import save_compact
from disconer.nn.weights import (
    CHANGE_BITS,
    LARGEST,
    MATRIX_BITS,
    PLANES,
    SMALL,
    TABLE_BITS,
    change,
    from_planes,
    full_weights,
    rounded_weights,
    to_planes,
)
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import load_model, save_model
from disconer.store.description import damaged_weights
from nn.toy import letter_model, toy_model


@given(arrays(np.uint16, st.integers(0, 40), elements=st.integers(0, 2**9 - 1)))
def test_numbers_come_back_from_their_planes(numbers: np.ndarray) -> None:
    planes = to_planes(numbers, 9)
    assert planes.shape == (9, -(-len(numbers) // 8))
    assert (from_planes(planes, len(numbers)) == numbers).all()


class Parts(nn.Module):
    """A large table, a large matrix, a large convolution, and small weights."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.table = nn.Embedding(123, 45)
        self.matrix = nn.Linear(97, 51)
        self.convolution = nn.Conv2d(16, 33, 3)
        self.norm = nn.LayerNorm(7)
        self.register_buffer("count", torch.tensor(12345678))


@pytest.mark.parametrize(
    ("name", "bits"),
    [("table.weight", TABLE_BITS), ("matrix.weight", MATRIX_BITS), ("convolution.weight", MATRIX_BITS)],
)
def test_a_large_weight_is_off_by_half_a_step_at_most(name: str, bits: int) -> None:
    network = Parts()
    stored = rounded_weights(network)
    weight = network.state_dict()[name]
    assert stored[name + PLANES].numel() == bits * -(-weight.numel() // 8)
    full = full_weights(stored, like=network.state_dict())[name]
    step = weight.flatten(1).abs().amax(1) / (2 ** (bits - 1) - 1)
    assert ((full - weight).flatten(1).abs().amax(1) <= 0.51 * step + 2**-11 * weight.abs().max()).all()
    assert not torch.equal(full, weight)


def test_what_is_small_or_no_fraction_is_kept() -> None:
    network = Parts()
    full = full_weights(rounded_weights(network), like=network.state_dict())
    assert full.keys() == network.state_dict().keys()
    assert full["count"].item() == 12345678
    torch.testing.assert_close(full["matrix.bias"], network.state_dict()["matrix.bias"], rtol=1e-3, atol=1e-7)


def test_rows_of_nothing_stay_nothing() -> None:
    network = nn.Linear(SMALL, 2, bias=False)
    nn.init.zeros_(network.weight[0])
    full = full_weights(rounded_weights(network), like=network.state_dict())["weight"]
    assert full[0].abs().max() == 0
    assert full[1].abs().max() > 0


def test_rounding_twice_is_rounding_once() -> None:
    network = Parts()
    once = rounded_weights(network)
    network.load_state_dict(full_weights(once, like=network.state_dict()))
    again = rounded_weights(network)
    assert all(torch.equal(again[name], tensor) for name, tensor in once.items())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compact")
    save_compact(letter_model(), folder)
    return folder


def test_a_compact_model_is_a_model(saved: Path, tmp_path: Path) -> None:
    text = "p in my k, and k"
    assert Recognizer.from_pretrained(saved)(text).entities
    found = [(entity.label, entity.fragments) for entity in Recognizer.from_pretrained(saved)(text).entities]
    assert found == [(entity.label, entity.fragments) for entity in Recognizer(letter_model())(text).entities]
    assert {weight.dtype for weight in load_model(saved).network.state_dict().values()} == {torch.float32}
    save_model(load_model(saved), tmp_path)  # and can be saved as any other
    assert Recognizer.from_pretrained(tmp_path)(text) == Recognizer.from_pretrained(saved)(text)
    assert "weights are quantised to 9 bits" in (saved / "README.md").read_text("utf-8")


def test_it_is_a_quarter_as_large(tmp_path: Path) -> None:
    model = toy_model(encoder={"lstm": {"size": 400}})
    save_model(model, tmp_path / "full")
    save_compact(model, tmp_path / "compact")
    full, compact = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "compact"))
    assert compact < 0.32 * full
    tokenizers = [(tmp_path / name / "tokenizer.json").stat().st_size for name in ("full", "compact")]
    assert tokenizers[1] < tokenizers[0]


@pytest.mark.parametrize("part", [PLANES, LARGEST])
def test_damaged(part: str, tmp_path: Path) -> None:
    save_compact(toy_model(encoder={"lstm": {"size": 100}}), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    name = next(name for name in weights if name.endswith(part))
    for wrong in ({}, {name: weights[name][..., :-1].contiguous()}):
        save_file(
            {key: tensor for key, tensor in weights.items() if key != name} | wrong, tmp_path / "model.safetensors"
        )
        with pytest.raises(DisconerError, match=r"model\.safetensors: The weights of this model are damaged"):
            load_model(tmp_path)


def test_rows_that_a_weight_does_not_have_are_damage(tmp_path: Path) -> None:
    planes = to_planes(np.zeros(8, np.uint16), CHANGE_BITS)
    with pytest.raises(DisconerError, match="damaged"), damaged_weights(tmp_path / "model.safetensors"):
        change("w", np.zeros((4, 8), np.float32), np.array([4]), planes, np.ones(1, np.float16))
