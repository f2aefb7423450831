"""The bare encoder in ONNX Runtime, for models that run there: a graph of nothing but its forward pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from disconer.core.background import made_ahead
from disconer.core.cores import chosen_threads
from disconer.export.graphs import example_inputs
from disconer.export.tracing import tidied, trace
from disconer.nn.arrays import WordArrays
from disconer.nn.encoders.transformer.encoder import TransformerWords
from disconer.nn.heads.kind import Graph
from disconer.predict.onnx.runtime import Array, session_of
from disconer.store.checkpoint import Model

Feed = Mapping[str, Array]


class TransformerGraph(nn.Module):
    """Of a transformer, from ids and mask to its last layer."""

    def __init__(self, words: TransformerWords) -> None:
        super().__init__()
        self.words = words

    def forward(self, piece_ids: Tensor, piece_mask: Tensor) -> Tensor:
        inputs = self.words.inputs(piece_ids, piece_mask)
        vectors: Tensor = self.words.transformer(**inputs).last_hidden_state
        return vectors


class OnnxEncoder:
    """See `sample.BareEncoder`."""

    def __init__(self, model: Model) -> None:
        encoder = model.network.words.encoder
        assert isinstance(encoder, TransformerWords)
        ids, mask = example_inputs(model.reader.prefix.shape[1:])[:2]
        axes = {0: "rows", 1: "pieces"}
        graph = Graph(TransformerGraph(encoder), {"piece_ids": axes, "piece_mask": axes}, ("vectors",), (ids, mask))
        with torch.no_grad():
            traced = tidied(trace(graph, encoder))
        self._session = session_of(traced.SerializeToString(), Path("encoder.onnx"))
        self._threads = chosen_threads()

    def load(self, arrays: Iterable[WordArrays]) -> list[Feed]:
        return [{name: getattr(batch, name) for name in self._session.inputs} for batch in arrays]

    def run(self, batches: list[Feed]) -> None:
        """Each thread has its own batch, as in the recogniser."""
        for _ in self._outputs(batches):
            pass

    def _outputs(self, batches: list[Feed]) -> Iterator[Any]:
        if self._threads == 1 or len(batches) == 1:
            return map(self._session, batches)
        return made_ahead(self._session, batches, ahead=self._threads, threads=self._threads)
