"""The network as a graph, up to the scores of its head. For export only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from disconer.nn.arrays import LANE_PLACES, LANE_WORDS, lanes_of
from disconer.nn.devices import WordBatch
from disconer.nn.heads.kind import Axes, Graph
from disconer.nn.layers import BiLstm
from disconer.nn.network import Words

OPSET = 20  # the oldest opset with all operators needed; supported by ONNX Runtime 1.18
DIRECTIONS = ("", "_reverse")  # torch's names of the parameters of each
CLOSED = -1e4  # the score of an LSTM's gate that lets nothing pass


class OnnxBiLstm(nn.Module):
    """The BiLSTM of a network, for ONNX only: ONNX's own operator, on sentences in lanes (`lanes_of`).

    Its parameters are those of torch's, and the graph itself puts them into ONNX's form: so they keep their names.
    """

    def __init__(self, trained: BiLstm) -> None:
        super().__init__()
        self.lstm = trained.lstm

    def forward(self, words: Tensor, lanes: tuple[Tensor, Tensor]) -> Tensor:
        """Shape: (B, N, d), (steps, lanes), (B, N) -> (B, N, 2 * units)"""
        read, places = lanes
        flat = words.flatten(0, 1)  # (B * N, d)
        is_break = (read == flat.shape[0]).to(flat.dtype).unsqueeze(-1)  # (steps, lanes, 1)
        states = torch.cat([flat, flat.new_zeros(1, flat.shape[1])])[read]  # (steps, lanes, d)
        for layer in range(self.lstm.num_layers):
            states = self._layer(layer, torch.cat([states, is_break], dim=-1))  # (steps, lanes, 2 * units)
        return states.flatten(0, 1)[places]

    def _layer(self, layer: int, inputs: Tensor) -> Tensor:
        """Shape: (steps, lanes, d + 1) -> (steps, lanes, 2 * units)"""
        units = self.lstm.hidden_size
        directions = [_gates(self.lstm, f"l{layer}{direction}") for direction in DIRECTIONS]
        # Shape: (2, 4 * units, d), (2, 4 * units, units), (2, 8 * units)
        weights, recurrent, biases = map(torch.stack, zip(*directions, strict=True))
        closed = weights.new_full((2, 3 * units, 1), CLOSED)  # input, output and forget gate at a break
        at_break = torch.cat([closed, closed.new_zeros(2, units, 1)], dim=1)
        states = torch.onnx.ops.symbolic(
            "LSTM",
            [inputs, torch.cat([weights, at_break], dim=-1), recurrent, biases],
            {"hidden_size": units, "direction": "bidirectional"},
            dtype=inputs.dtype,
            shape=(inputs.shape[0], 2, inputs.shape[1], units),
            version=OPSET,
        )
        return states.transpose(1, 2).flatten(2)


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
    LANE_WORDS: {0: "steps", 1: "lanes"},
    LANE_PLACES: {0: "windows", 1: "words"},
}


class NetworkGraph(nn.Module):
    """The whole network up to the scores of its head.

    head: see `HeadGraphs.scores`. A submodule, so that its operators can be distinguished from those of the words.
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
        """The inputs are those of `WordArrays` named in `INPUTS`, those of `Lanes`, then those of the head."""
        named = dict(zip(INPUTS, inputs, strict=False))
        lengths, lanes = named.pop("lengths"), (named.pop(LANE_WORDS), named.pop(LANE_PLACES))
        batch = WordBatch(
            **named,
            real_words=named["word_places"],  # not used by this graph
            own_mask=named["word_mask"],
            lengths=lanes,  # type: ignore[arg-type]  # only the LSTM asks for lengths, and takes these instead
        )
        scores: tuple[Tensor, ...] = self.head(self.words(batch), lengths, *inputs[len(INPUTS) :])
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
    lengths = torch.tensor([7, 5, 3], dtype=torch.int32)
    lanes = lanes_of(lengths.numpy())
    values: dict[str, Any] = {
        "piece_ids": torch.ones(n_rows, n_pieces, *piece_shape, dtype=torch.int64),
        "piece_mask": torch.ones(n_rows, n_pieces, dtype=torch.int64),
        "first_piece": torch.ones(n_windows, n_words, dtype=torch.int64),
        "piece_places": torch.arange(n_places),
        "word_places": torch.arange(n_places),
        "word_mask": torch.ones(n_windows, n_words, dtype=torch.bool),
        "heads": torch.zeros(n_windows, n_words, dtype=torch.int64),
        "parsed": torch.ones(n_windows, dtype=torch.bool),
        "lengths": lengths,
        LANE_WORDS: torch.from_numpy(lanes.words),
        LANE_PLACES: torch.from_numpy(lanes.places),
    }
    return tuple(values[name] for name in INPUTS)
