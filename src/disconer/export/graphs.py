"""The network as two graphs: up to the scores of spans, and the scores of pairs of them. Made for export only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from disconer.nn.heads.span.decisions import NONE
from disconer.nn.heads.span.head import SpanHead
from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer, WidthEmbedding
from disconer.nn.heads.span.target_tensors import Relation
from disconer.nn.layers.lstm import BiLstm
from disconer.nn.network import AnyNetwork, Words
from disconer.nn.tensors import WordBatch

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


Axes = dict[int, str]

# The inputs of the first graph with the names of their axes, which may have any size.
SPAN_INPUTS: dict[str, Axes] = {
    "piece_ids": {0: "rows", 1: "pieces"},
    "piece_mask": {0: "rows", 1: "pieces"},
    "first_piece": {0: "windows", 1: "words"},
    "piece_places": {0: "places"},
    "word_places": {0: "places"},
    "word_mask": {0: "windows", 1: "words"},
    "heads": {0: "windows", 1: "words"},
    "parsed": {0: "windows"},
    "lengths": {0: "windows"},
    "widths": {0: "widths"},
}
SPAN_OUTPUTS = ("words", "scores", "above")
PAIR_INPUTS: dict[str, Axes] = {
    "words": {0: "windows", 1: "words"},
    "place": {1: "spans"},
    "pairs": {1: "pairs"},
}
PAIR_OUTPUTS = ("succession",)


class SpanGraph(nn.Module):
    """Words, and the scores of all spans."""

    def __init__(self, network: AnyNetwork, head: SpanHead) -> None:
        super().__init__()
        lstm = network.words.lstm
        self.words = Words(
            encoder=network.words.encoder,
            dropout=0.0,
            lstm=None if lstm is None else OnnxBiLstm(lstm),  # type: ignore[arg-type]
            gcn=network.words.gcn,
        )
        self.head = SpanGraphHead(head)

    def forward(
        self,
        piece_ids: Tensor,
        piece_mask: Tensor,
        first_piece: Tensor,
        piece_places: Tensor,
        word_places: Tensor,
        word_mask: Tensor,
        heads: Tensor,
        parsed: Tensor,
        lengths: Tensor,
        widths: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The inputs are those of `WordArrays`, and the widths of spans, less one.  Shape: (W,)

        Returns words, the scores of all spans, and which of them are likely fragments.
            Shape: (B, N, d), (B, N, W, classes), (B, N, W)
        """
        batch = WordBatch(
            piece_ids=piece_ids,
            piece_mask=piece_mask,
            first_piece=first_piece,
            piece_places=piece_places,
            word_places=word_places,
            word_mask=word_mask,
            real_words=word_places,  # which no part of this graph reads
            own_mask=word_mask,
            heads=heads,
            parsed=parsed,
            lengths=lengths,  # type: ignore[arg-type]
        )
        words: Tensor = self.words(batch)
        return words, *self.head(words, lengths, widths)


class SpanGraphHead(nn.Module):
    """Scores of spans. A part of its own, so that its operators can be told from those of the words."""

    def __init__(self, head: SpanHead) -> None:
        super().__init__()
        self.widths: WidthEmbedding = head.widths
        self.fragments: FragmentScorer = head.fragments
        self.several = head.several

    def forward(self, words: Tensor, lengths: Tensor, widths: Tensor) -> tuple[Tensor, Tensor]:
        """Shape: (B, N, d), (B,), (W,) -> (B, N, W, classes), (B, N, W)"""
        end = torch.arange(words.shape[1])[:, None] + widths  # (N, W)
        scores = self._scores(words, end.clamp(max=words.shape[1] - 1), widths)
        best = scores[..., 1:].amax(-1)
        margin = best if self.several else best - scores[..., NONE]
        return scores, (margin > 0) & (end < lengths[:, None, None])

    def _scores(self, words: Tensor, end: Tensor, widths: Tensor) -> Tensor:
        """As `FragmentScorer` does it, with ends looked up: ONNX has no sliding windows."""
        first = self.fragments.first
        at_start, at_end, at_width = torch.split(first.weight, self.fragments.parts, dim=1)
        starts = linear(words, at_start, first.bias)  # (B, N, H)
        ends = linear(words, at_end)  # (B, N, H)
        hidden = starts.unsqueeze(2) + ends[:, end] + linear(self.widths(widths), at_width)  # (B, N, W, H)
        scores: Tensor = self.fragments.rest(hidden)
        return scores


class PairGraph(nn.Module):
    """The chance that pairs of spans are of one entity, or 0 where that is not the likeliest."""

    def __init__(self, head: SpanHead) -> None:
        super().__init__()
        assert head.relations is not None
        self.widths: WidthEmbedding = head.widths
        self.relations: RelationScorer = head.relations

    def forward(self, words: Tensor, place: Tensor, pairs: Tensor) -> Tensor:
        """place: row, start and width less one of each span.

        Shape: (B, N, d), (3, K), (2, pairs) -> (pairs,)
        """
        chances = self.relations(words, self.widths(place[2]), place, pairs).softmax(-1)
        likeliest = chances.argmax(-1) == Relation.SUCCESSION
        return torch.where(likeliest, chances[:, Relation.SUCCESSION], 0.0)


def example_spans(reader_columns: tuple[int, ...]) -> tuple[Tensor, ...]:
    """Inputs to trace the first graph with; every axis has a size of its own.

    reader_columns: the shape of one piece: () for a number.
    """
    n_rows, n_windows, n_words, n_pieces, n_places, n_widths = 2, 3, 7, 11, 9, 4
    values: dict[str, Any] = {
        "piece_ids": torch.ones(n_rows, n_pieces, *reader_columns, dtype=torch.int64),
        "piece_mask": torch.ones(n_rows, n_pieces, dtype=torch.int64),
        "first_piece": torch.ones(n_windows, n_words, dtype=torch.int64),
        "piece_places": torch.arange(n_places),
        "word_places": torch.arange(n_places),
        "word_mask": torch.ones(n_windows, n_words, dtype=torch.bool),
        "heads": torch.zeros(n_windows, n_words, dtype=torch.int64),
        "parsed": torch.ones(n_windows, dtype=torch.bool),
        "lengths": torch.tensor([7, 5, 3], dtype=torch.int32),
        "widths": torch.arange(n_widths),
    }
    return tuple(values[name] for name in SPAN_INPUTS)


def example_pairs(word_size: int) -> tuple[Tensor, ...]:
    """Inputs to trace the second graph with."""
    n_spans, n_pairs = 5, 6
    return (
        torch.zeros(3, 7, word_size),
        torch.zeros(3, n_spans, dtype=torch.int64),
        torch.zeros(2, n_pairs, dtype=torch.int64),
    )
