"""A BiLSTM as ONNX has it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from disconer.nn.layers.lstm import BiLstm

OPSET = 20  # the oldest version of ONNX's operators that has all that networks need; ONNX Runtime 1.18 knows it
PARTS = ("inputs", "recurrent", "biases")  # ONNX's order
DIRECTIONS = ("", "_reverse")  # how torch names the parameters of each


class OnnxBiLstm(nn.Module):
    """The BiLSTM of a trained network, for export only: ONNX's own operator, which knows the lengths of sentences."""

    def __init__(self, trained: BiLstm) -> None:
        super().__init__()
        self.units = trained.lstm.hidden_size
        self.layers = trained.lstm.num_layers
        for layer in range(self.layers):
            inputs, recurrent, biases = zip(
                *(_gates(trained.lstm, f"l{layer}{direction}") for direction in DIRECTIONS), strict=True
            )
            self.register_buffer(f"inputs_{layer}", torch.stack(inputs))  # (2, 4 * units, d)
            self.register_buffer(f"recurrent_{layer}", torch.stack(recurrent))  # (2, 4 * units, units)
            self.register_buffer(f"biases_{layer}", torch.stack(biases))  # (2, 8 * units)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Shape: (B, N, d), (B,) -> (B, N, 2 * units)"""
        n_rows, n_words = words.shape[:2]
        for layer in range(self.layers):
            read = torch.onnx.ops.symbolic(
                "LSTM",
                [words.transpose(0, 1), *(self.get_buffer(f"{part}_{layer}") for part in PARTS), lengths],
                {"hidden_size": self.units, "direction": "bidirectional"},
                dtype=words.dtype,
                shape=(n_words, 2, n_rows, self.units),
                version=OPSET,
            )
            words = read.permute(2, 0, 1, 3).reshape(n_rows, n_words, 2 * self.units)
        return words


def _gates(lstm: nn.LSTM, suffix: str) -> tuple[Tensor, Tensor, Tensor]:
    """The parameters of one direction of one layer, their gates in ONNX's order."""
    weights = [getattr(lstm, f"{kind}_{suffix}").detach() for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    inputs, recurrent, bias, recurrent_bias = map(_reordered, weights)
    return inputs, recurrent, torch.cat([bias, recurrent_bias])


def _reordered(gates: Tensor) -> Tensor:
    """In torch: input, forget, cell, output. In ONNX: input, output, forget, cell."""
    into, forget, cell, out = gates.chunk(4)
    return torch.cat([into, out, forget, cell])
