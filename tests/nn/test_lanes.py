from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from disconer.export.network_graph import OnnxBiLstm
from disconer.nn.arrays import lanes_of
from disconer.nn.layers import BiLstm


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_every_word_is_read_once_and_no_window_beside_another(lengths: list[int]) -> None:
    n_words = max(lengths)
    lanes = lanes_of(np.array(lengths))
    a_break = len(lengths) * n_words
    assert len(lanes.words) == max(lengths)
    real = [row * n_words + word for row, length in enumerate(lengths) for word in range(length)]
    assert sorted(lanes.words[lanes.words != a_break].tolist()) == real
    flat = lanes.words.ravel()
    expected = np.full((len(lengths), n_words), a_break)
    for row, length in enumerate(lengths):
        expected[row, :length] = np.arange(length) + row * n_words
    assert (flat[lanes.places] == expected).all()
    for lane in lanes.words.T.tolist():
        for word, following in pairwise(lane):
            assert a_break in (word, following) or (following == word + 1 and following % n_words)


def test_short_windows_share_lanes() -> None:
    assert lanes_of(np.array([43, 10, 6, 6, 5, 4, 4, 4, 5])).words.shape == (43, 3)  # 9 without


def onnx_lstm(inputs: Tensor, weights: Tensor, recurrent: Tensor, biases: Tensor, units: int) -> Tensor:
    """What ONNX's operator computes, step by step.  Shape: (steps, lanes, d) -> (steps, 2, lanes, units)"""
    directions = []
    for number in range(2):
        state = cell = inputs.new_zeros(inputs.shape[1], units)
        bias = biases[number][: 4 * units] + biases[number][4 * units :]
        states = []
        for step in inputs if number == 0 else inputs.flip(0):
            gates = step @ weights[number].T + state @ recurrent[number].T + bias
            into, out, forget, new = gates.chunk(4, dim=-1)
            cell = forget.sigmoid() * cell + into.sigmoid() * new.tanh()
            state = out.sigmoid() * cell.tanh()
            states.append(state)
        directions.append(torch.stack(states if number == 0 else states[::-1]))
    return torch.stack(directions, dim=1)


def test_an_lstm_in_lanes_reads_each_window_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    lstm = BiLstm(input_size=6, size=4, layers=2, dropout=0.0).eval()
    for parameter in lstm.parameters():
        torch.nn.init.normal_(parameter)
    lengths = [7, 5, 3, 2, 1, 7]
    words = torch.randn(len(lengths), 7, 6)
    lanes = tuple(torch.from_numpy(part) for part in lanes_of(np.array(lengths)))

    def computed(name: str, inputs: list[Tensor], settings: dict[str, int], **_: object) -> Tensor:
        assert name == "LSTM"
        return onnx_lstm(*inputs, units=settings["hidden_size"])

    monkeypatch.setattr(torch.onnx.ops, "symbolic", computed)
    with torch.no_grad():
        states = OnnxBiLstm(lstm)(words, lanes)  # type: ignore[arg-type]
        expected = lstm(words, lengths)
    assert torch.allclose(states, expected, atol=1e-6)
