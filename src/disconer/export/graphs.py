"""The network as a graph, up to the scores of its head. For export only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from disconer.nn.heads.kind import Axes, Graph
from disconer.nn.layers import BiLstm
from disconer.nn.network import Words
from disconer.nn.parts import WordBatch

OPSET = 20  # the oldest opset with all operators needed; supported by ONNX Runtime 1.18
DIRECTIONS = ("", "_reverse")  # torch's names of the parameters of each


class OnnxBiLstm(nn.Module):
    """The BiLSTM of a network, for ONNX only: ONNX's own operator, which takes sentence lengths.

    Its parameters are those of torch's, and the graph itself puts them into ONNX's form: so they keep their names.
    """

    def __init__(self, trained: BiLstm) -> None:
        super().__init__()
        self.lstm = trained.lstm

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Shape: (B, N, d), (B,) -> (B, N, 2 * units)"""
        n_rows, n_words = words.shape[:2]
        units = self.lstm.hidden_size
        for layer in range(self.lstm.num_layers):
            directions = [_gates(self.lstm, f"l{layer}{direction}") for direction in DIRECTIONS]
            # Shape: (2, 4 * units, d), (2, 4 * units, units), (2, 8 * units)
            inputs, recurrent, biases = map(torch.stack, zip(*directions, strict=True))
            read = torch.onnx.ops.symbolic(
                "LSTM",
                [words.transpose(0, 1), inputs, recurrent, biases, lengths],
                {"hidden_size": units, "direction": "bidirectional"},
                dtype=words.dtype,
                shape=(n_words, 2, n_rows, units),
                version=OPSET,
            )
            words = read.permute(2, 0, 1, 3).reshape(n_rows, n_words, 2 * units)
        return words


def _gates(lstm: nn.LSTM, suffix: str) -> tuple[Tensor, Tensor, Tensor]:
    """The parameters of one direction of one layer, their gates in ONNX's order."""
    weights = [getattr(lstm, f"{kind}_{suffix}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    inputs, recurrent, bias, recurrent_bias = map(_reordered, weights)
    return inputs, recurrent, torch.cat([bias, recurrent_bias])


def _reordered(gates: Tensor) -> Tensor:
    """In torch: input, forget, cell, output. In ONNX: input, output, forget, cell."""
    units = len(gates) // 4
    into, forget_and_cell, out = gates[:units], gates[units : 3 * units], gates[3 * units :]
    return torch.cat([into, out, forget_and_cell])


# The network's inputs, with the names of dynamic axes.
INPUTS: dict[str, Axes] = {
    "piece_ids": {0: "rows", 1: "pieces"},
    "piece_mask": {0: "rows", 1: "pieces"},
    "first_piece": {0: "windows", 1: "words"},
    "piece_places": {0: "places"},
    "word_places": {0: "places"},
    "word_mask": {0: "windows", 1: "words"},
    "heads": {0: "windows", 1: "words"},
    "parsed": {0: "windows"},
    "lengths": {0: "windows"},
}


class NetworkGraph(nn.Module):
    """The whole network up to the scores of its head.

    head: see `HeadGraphs.scores`. A submodule, so that its operators can be told from those of the words.
    """

    def __init__(self, words: Words, head: nn.Module) -> None:
        super().__init__()
        lstm = words.lstm
        self.words = Words(
            encoder=words.encoder,
            dropout=0.0,
            lstm=None if lstm is None else OnnxBiLstm(lstm),  # type: ignore[arg-type]
            gcn=words.gcn,
        )
        self.head = head

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The inputs are those of `WordArrays` named in `INPUTS`, then those of the head."""
        named = dict(zip(INPUTS, inputs, strict=False))
        batch = WordBatch(
            **named,  # type: ignore[arg-type]
            real_words=named["word_places"],  # not used by this graph
            own_mask=named["word_mask"],
        )
        scores: tuple[Tensor, ...] = self.head(self.words(batch), named["lengths"], *inputs[len(INPUTS) :])
        return scores


def network_graph(words: Words, scores: Graph, piece_shape: tuple[int, ...]) -> Graph:
    """The graph of a network that ends in the scores of its head.

    piece_shape: of one piece: () for a number.
    """
    example = (*example_inputs(piece_shape), *scores.example)
    return Graph(NetworkGraph(words, scores.module), INPUTS | dict(scores.inputs), scores.outputs, example)


def example_inputs(piece_shape: tuple[int, ...]) -> tuple[Tensor, ...]:
    """Inputs to trace a network with; every axis has a different size."""
    n_rows, n_windows, n_words, n_pieces, n_places = 2, 3, 7, 11, 9
    values: dict[str, Any] = {
        "piece_ids": torch.ones(n_rows, n_pieces, *piece_shape, dtype=torch.int64),
        "piece_mask": torch.ones(n_rows, n_pieces, dtype=torch.int64),
        "first_piece": torch.ones(n_windows, n_words, dtype=torch.int64),
        "piece_places": torch.arange(n_places),
        "word_places": torch.arange(n_places),
        "word_mask": torch.ones(n_windows, n_words, dtype=torch.bool),
        "heads": torch.zeros(n_windows, n_words, dtype=torch.int64),
        "parsed": torch.ones(n_windows, dtype=torch.bool),
        "lengths": torch.tensor([7, 5, 3], dtype=torch.int32),
    }
    return tuple(values[name] for name in INPUTS)
