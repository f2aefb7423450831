"""The sequence head: an LSTM that writes labels, its attention on one word at a time; targets, loss and prediction.

Sizes: d of a word vector, s of the LSTM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad
from torch.nn.utils.rnn import pad_sequence

from disconer.nn.devices import WordBatch, moved, sent
from disconer.nn.heads.kind import Graph, HeadGraphs
from disconer.nn.heads.sequence.labels import Alphabet, State, label_names, oracle, valid_labels
from disconer.nn.heads.sequence.reading import STEP, STEP_INPUTS, STEP_OUTPUTS, WORDS, Decoder
from disconer.nn.interfaces import AxisNames
from disconer.nn.layers import UnchangedWords
from disconer.nn.reader import Bools, Floats, Ints
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

LstmState = tuple[Tensor, Tensor]


class LabelWriter(nn.Module):
    """Scores of the next label, from the word at hand and the labels so far, of this and earlier words."""

    def __init__(self, *, word_size: int, label_size: int, size: int, n_labels: int, dropout: float) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_labels, label_size)
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(word_size + label_size, size, batch_first=True)
        self.output = nn.Linear(size + word_size, n_labels)

    def forward(self, words: Tensor, before: Tensor, state: LstmState) -> tuple[Tensor, LstmState]:
        """The next label of each path, as plain operations: the same numbers as `whole`, in any runtime.

        Shape: (R, d), (R,), twice (R, s) -> (R, labels), twice (R, s)
        """
        hidden, memory = state
        words = words.to(hidden.dtype)
        of_inputs, of_hidden, bias, hidden_bias = self.lstm.all_weights[0]
        gates = linear(self._inputs(words, before), of_inputs, bias) + linear(hidden, of_hidden, hidden_bias)
        gate, keep, new, out = gates.chunk(4, -1)  # torch's order
        memory = keep.sigmoid() * memory + gate.sigmoid() * new.tanh()
        hidden = out.sigmoid() * memory.tanh()
        return self._scores(hidden, words), (hidden, memory)

    def whole(self, words: Tensor, before: Tensor) -> Tensor:
        """All labels of sentences, where they are known beforehand.

        words: at hand.  Shape: (B, T, d)
        before: the labels before; before the first, END.  Shape: (B, T)

        Shape: (B, T, labels)
        """
        if torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):  # not every CPU has an LSTM in bf16
                return self.whole(words, before)
        words = words.to(self.lstm.all_weights[0][0].dtype)  # LSTMs stay in float32 even in a bf16 network
        states, _ = self.lstm(self.dropout(self._inputs(words, before)))
        return self._scores(states, words)

    def start(self, n_paths: int) -> LstmState:
        """Shape: twice (R, s)"""
        nothing = self.lstm.all_weights[0][0].new_zeros(n_paths, self.lstm.hidden_size)
        return nothing, nothing

    def _inputs(self, words: Tensor, before: Tensor) -> Tensor:
        return torch.cat([words, self.vectors(before).to(words.dtype)], -1)

    def _scores(self, states: Tensor, words: Tensor) -> Tensor:
        seen = self.dropout(torch.cat([states, words], -1))
        scores: Tensor = self.output(seen.to(self.output.weight.dtype)).float()
        return scores


class LabelTargets(NamedTuple):
    """The labels of a window, T of them.

    labels: by number.  word: that each belongs to.  choice: which were valid; see `valid_labels`.  Shape: (T,)
    taught: those that count in the loss.  Shape: (T,)
    """

    labels: Ints
    word: Ints
    choice: Ints
    taught: Bools


@dataclass(frozen=True, slots=True)
class LabelBatch:
    """The same of the windows of a batch, padded.  Shape: (B, T)"""

    labels: Tensor
    word: Tensor
    choice: Tensor
    taught: Tensor

    def to(self, device: torch.device) -> LabelBatch:
        return LabelBatch(*(moved(getattr(self, field.name), device) for field in fields(self)))


class Launched(NamedTuple):
    """The words of a batch, on its device; lengths: of its windows, on the CPU."""

    words: Tensor
    lengths: list[int]


class SequenceHead(nn.Module):
    """Entities by labels of words. See `SequenceSettings`."""

    def __init__(self, *, labels: Sequence[str], writer: LabelWriter, max_labels: int, beam: int) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.label_numbers = {label: number for number, label in enumerate(self.labels)}
        self.alphabet = Alphabet(len(self.labels), max_labels)
        self.writer, self.decoder = writer, Decoder(self.labels, self.alphabet, beam)
        self.register_buffer("valid", torch.from_numpy(valid_labels(len(self.labels)).copy()), persistent=False)
        self.valid: Tensor

    @property
    def stages(self) -> dict[str, nn.Module]:
        """See `Head`."""
        return {"labels": self.writer}

    def axis_names(self) -> Mapping[str, AxisNames]:
        """See `Transferable`."""
        names = label_names(self.labels)
        return {f"writer.{name}": {0: names} for name in ("vectors.weight", "output.weight", "output.bias")}

    # Training

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> LabelTargets:
        """See `Head`."""
        known = [entity for entity in entities if entity.label in self.label_numbers]
        held = (entity.key for entity in window.within(known))
        labels = oracle(held, len(window), self.label_numbers, self.alphabet.most).labels
        state, word, choice = State(), [], []
        for number in labels:
            word.append(state.word)
            choice.append(state.choice(len(window), self.alphabet))
            state = state.after(number, self.alphabet.n_labels)
        return LabelTargets(np.array(labels), np.array(word), np.array(choice), window.taught(known)[word])

    def batch_targets(self, targets: Sequence[LabelTargets]) -> LabelBatch:
        """See `Head`."""
        columns = zip(*targets, strict=True)
        return LabelBatch(*(pad_sequence([torch.from_numpy(one) for one in own], batch_first=True) for own in columns))

    def loss(self, words: Tensor, batch: WordBatch, targets: LabelBatch) -> Tensor:
        """See `Head`: minus the log probabilities of the labels."""
        return -self.log_probabilities(words, targets).where(targets.taught, 0).sum()

    def log_probabilities(self, words: Tensor, targets: LabelBatch) -> Tensor:
        """Of each label, after those before it; any for padding.  Shape: (B, T)"""
        place = targets.word[..., None].expand(-1, -1, words.shape[2])
        before = pad(targets.labels[:, :-1], (1, 0))  # END comes first
        scores = self.writer.whole(words.gather(1, place), before)  # (B, T, labels)
        probabilities = scores.masked_fill(~self.valid[targets.choice], -torch.inf).log_softmax(-1)
        chosen: Tensor = probabilities.gather(-1, targets.labels[..., None])[..., 0]
        return chosen

    # Prediction

    def launch(self, words: Tensor, batch: WordBatch) -> Launched:
        """See `Head`. Labels follow from one another, so that all work on them waits for `collect`."""
        return Launched(words, batch.lengths)

    def collect(self, launched: Launched) -> list[list[Found]]:
        """See `Head`."""
        return self.decoder(TorchScorer(self.writer, launched.words), launched.lengths)


class TorchScorer:
    """See `Scorer`. The states stay on the device.  words:  Shape: (B, N, d)"""

    def __init__(self, writer: LabelWriter, words: Tensor) -> None:
        self.writer, self.words = writer, words
        self.state = writer.start(len(words))

    def __call__(self, row: Ints, word: Ints, before: Ints, origin: Ints) -> Floats:
        at = sent([row, word, before, origin], self.words.device)
        hidden, memory = self.state
        scores, self.state = self.writer(self.words[at[0], at[1]], at[2], (hidden[at[3]], memory[at[3]]))
        found: Floats = scores.cpu().numpy()
        return found


def build_sequence(
    *,
    labels: Sequence[str],
    word_size: int,
    label_size: int,
    size: int,
    dropout: float,
    max_labels: int,
    beam: int,
) -> SequenceHead:
    writer = LabelWriter(
        word_size=word_size,
        label_size=label_size,
        size=size,
        n_labels=Alphabet(len(labels), max_labels).size,
        dropout=dropout,
    )
    return SequenceHead(labels=labels, writer=writer, max_labels=max_labels, beam=beam)


class StepGraph(nn.Module):
    """See `LabelWriter`."""

    def __init__(self, writer: LabelWriter) -> None:
        super().__init__()
        self.writer = writer

    def forward(self, words: Tensor, before: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores, state = self.writer(words, before, (hidden, memory))
        return scores, *state


def sequence_graphs(head: SequenceHead) -> HeadGraphs:
    n_paths, lstm = 3, head.writer.lstm
    word_size = lstm.input_size - head.writer.vectors.embedding_dim
    example = (
        torch.zeros(n_paths, word_size),
        torch.zeros(n_paths, dtype=torch.int64),
        torch.zeros(n_paths, lstm.hidden_size),
        torch.zeros(n_paths, lstm.hidden_size),
    )
    step = Graph(StepGraph(head.writer), {name: {0: "paths"} for name in STEP_INPUTS}, STEP_OUTPUTS, example)
    words = Graph(UnchangedWords(), {}, (WORDS,), example=())
    return HeadGraphs(words, {STEP: step})  # what is scored is scored step by step
