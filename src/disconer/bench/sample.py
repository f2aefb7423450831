"""The sentences that speed is measured on, and the bare encoder that a model is measured against, in torch and in ONNX
Runtime.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from disconer.core.background import made_ahead
from disconer.core.cores import chosen_threads
from disconer.core.errors import DisconerError
from disconer.core.sentence import Token
from disconer.core.types import Document
from disconer.export.network_graph import example_inputs
from disconer.export.tracing import tidied, trace
from disconer.nn.arrays import WordArrays, word_arrays
from disconer.nn.devices import WordBatch
from disconer.nn.encoders.transformer.encoder import TransformerWords
from disconer.nn.heads.kind import Graph
from disconer.nn.reader import Reader
from disconer.nn.runtime import Precision
from disconer.nn.windows import Window, Windower
from disconer.predict.onnx.runtime import Array, session_of
from disconer.store.checkpoint import Model


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents to measure on.

    documents: as the recogniser gets them: bare texts, or with sentences that are taken as given.
    segmented: the same with sentences, and with the entities of the data.
    windows: what the network reads of them.
    """

    documents: list[Document]
    segmented: list[Document]
    windows: list[Window]
    given: bool

    @property
    def n_sentences(self) -> int:
        return sum(window.start == 0 for window in self.windows)  # a long sentence has further windows

    def counts(self) -> dict[str, int]:
        return {
            "documents": len(self.documents),
            "sentences": self.n_sentences,
            "words": sum(map(len, self.windows)),
            "subwords": sum(len(window.subwords.ids) for window in self.windows),
        }

    def single_sentences(self, most: int) -> list[Document]:
        """Sentences from all over the sample, each as a document of its own."""
        sentences = list(self._each_sentence())
        return sentences[:: max(1, -(-len(sentences) // most))]

    def _each_sentence(self) -> Iterator[Document]:
        for document in self.segmented:
            for number, sentence in enumerate(document.sentences or ()):
                if not sentence.tokens:
                    continue
                start = sentence.start
                tokens = tuple(Token(a - start, b - start) for a, b in sentence.tokens)
                moved = replace(sentence, start=0, end=sentence.end - start, tokens=tokens)
                text = document.text[start : sentence.end]
                yield Document(f"{document.id}-{number}", text, sentences=(moved,) if self.given else None)


def take_sample(documents: Iterable[Document], windower: Windower, *, limit: int | None, given: bool) -> Sample:
    """Documents from the first on, until there are `limit` sentences."""
    taken, segmented = [], []
    windows: list[Window] = []
    n_sentences = 0
    for document in documents:
        if not given:
            document = document.replace(sentences=None)
        elif document.sentences is None:
            raise DisconerError(
                f"The document {document.id!r} has no sentences",
                fix="Omit --given to split the text into sentences.",
            )
        own = windower.segment(document)
        of_sentences = [found for found in windower.windows(own) if found]
        taken.append(document.replace(entities=()))
        segmented.append(own)
        windows += [window for found in of_sentences for window in found]
        n_sentences += len(of_sentences)
        if limit is not None and n_sentences >= limit:
            break
    if not windows:
        raise DisconerError("There are no sentences to measure", fix="Give text of some length with --data.")
    return Sample(taken, segmented, windows, given)


BATCH = 32  # sentences


class BareEncoder:
    """A copy of a model's encoder that does nothing but its forward pass.

    Of a transformer that is the transformer itself, from ids and mask to its last layer; subwords are not even pooled.
    """

    def __init__(self, model: Model, device: torch.device, precision: Precision = "fp32") -> None:
        encoder = deepcopy(model.network.words.encoder)
        self._words = encoder if isinstance(encoder, TransformerWords) else None
        self.module: nn.Module = encoder if self._words is None else self._words.transformer
        self.module.to(device, torch.bfloat16 if precision == "bf16" else torch.float32).eval()
        self.device = device

    def forward(self, batch: WordBatch) -> Tensor:
        """The vectors of a batch."""
        if self._words is None:
            words: Tensor = self.module(batch)
            return words
        subwords: Tensor = self.module(**self._words.inputs(batch.piece_ids, batch.piece_mask)).last_hidden_state
        return subwords

    @torch.inference_mode()
    def run(self, batches: Iterable[WordBatch]) -> None:
        for batch in batches:
            self.forward(batch)

    def load(self, arrays: Iterable[WordArrays]) -> list[WordBatch]:
        """Batches where the encoder is, so that running it includes neither collation nor copies."""
        return [WordBatch.from_arrays(batch, self.device) for batch in arrays]


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
    """The same in ONNX Runtime, for models that run there: a graph of nothing but a transformer's forward pass."""

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


def sorted_batches(windows: Sequence[Window], reader: Reader, size: int = BATCH) -> list[WordArrays]:
    """Batches of a given number of windows, sorted by length."""
    ordered = sorted(windows, key=lambda window: len(window.subwords.ids))
    alone = [[window] for window in ordered]
    return [word_arrays(alone[first : first + size], reader) for first in range(0, len(alone), size)]
