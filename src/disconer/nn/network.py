"""The network: built from a configuration, and run by torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor, nn

from disconer.config import Config, EncoderConfig, GcnConfig
from disconer.core.errors import DisconerError
from disconer.nn.arrays import WordArrays
from disconer.nn.devices import WordBatch, size_multiple, usable_device
from disconer.nn.heads.kind import kind_of
from disconer.nn.interfaces import AnyHead, Fetching, Head, NearHead, Targets, WordEncoder
from disconer.nn.layers import BiLstm
from disconer.nn.layers.gcn import Aggcn
from disconer.nn.runtime import Device, Precision, RuntimeName
from disconer.nn.windows import Found


class Words(nn.Module):
    """Everything up to word vectors: encoder, BiLSTM, and what syntax adds."""

    def __init__(
        self, *, encoder: WordEncoder, dropout: float, lstm: BiLstm | None = None, gcn: Aggcn | None = None
    ) -> None:
        super().__init__()
        self.encoder, self.lstm, self.gcn = encoder, lstm, gcn
        self.dropout = nn.Dropout(dropout)

    @property
    def size(self) -> int:
        """Of a word vector."""
        size = self.encoder.size if self.lstm is None else self.lstm.size
        return size if self.gcn is None else size + self.gcn.size

    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, d)"""
        words: Tensor = self.dropout(self.encoder(batch))
        if self.lstm is not None:
            words = self.dropout(self.lstm(words, batch.lengths))
        if self.gcn is not None:
            syntax = self.gcn(words, batch.heads, batch.parsed, batch.word_mask)
            words = torch.cat([words, syntax.to(words.dtype)], dim=-1)
        return words


class Network(nn.Module, Generic[Targets]):
    """Word vectors and a head. Calling it gives the loss; `launch`, then the head's `collect`, give entities."""

    def __init__(self, *, words: Words, head: Head[Any, Targets, Any]) -> None:
        super().__init__()
        self.words = words
        self.head = head

    def forward(self, batch: WordBatch, targets: Targets) -> Tensor:
        """The summed loss of a batch."""
        return self.head.loss(self.words(batch), batch, targets)

    def launch(self, batch: WordBatch) -> Any:
        """Put the work of finding entities on the device, without waiting for it."""
        return self.head.launch(self.words(batch), batch)

    def encoder_parameters(self) -> list[nn.Parameter]:
        """The pretrained parameters, which have their own learning rate."""
        return self.words.encoder.pretrained_parameters()

    def other_parameters(self) -> list[nn.Parameter]:
        pretrained = {id(parameter) for parameter in self.encoder_parameters()}
        return [parameter for parameter in self.parameters() if id(parameter) not in pretrained]


AnyNetwork = Network[Any]


def build_network(config: Config, labels: Sequence[str], encoder: WordEncoder) -> AnyNetwork:
    """A network on an encoder; its other parts are newly initialised."""
    if config.encoder.frozen:
        for parameter in encoder.pretrained_parameters():
            parameter.requires_grad_(False)
    words = _build_words(config, encoder)
    return Network(words=words, head=build_head(config, labels, words))


def build_head(config: Config, labels: Sequence[str], words: Words) -> AnyHead:
    return kind_of(config.head).build(config.head, labels, word_size=words.size)


def _build_words(config: Config, encoder: WordEncoder) -> Words:
    lstm = _build_lstm(config.encoder, encoder.size)
    gcn = _build_gcn(config.syntax.gcn, lstm.size if lstm else encoder.size) if config.syntax.gcn else None
    return Words(encoder=encoder, dropout=config.encoder.dropout, lstm=lstm, gcn=gcn)


def _build_lstm(config: EncoderConfig, input_size: int) -> BiLstm | None:
    if config.lstm is None:
        return None
    return BiLstm(input_size=input_size, size=config.lstm.size, layers=config.lstm.layers, dropout=config.lstm.dropout)


def _build_gcn(config: GcnConfig, size: int) -> Aggcn:
    return Aggcn(
        size=size,
        output_size=config.size,
        blocks=config.blocks,
        heads=config.heads,
        first_layers=config.first_layers,
        further_layers=config.further_layers,
        dropout=config.dropout,
    )


# Larger batches overflow a CPU's caches and have more padding; smaller ones leave a GPU idle.
BATCH_SUBWORDS, GPU_BATCH_SUBWORDS = 768, 2**15
BATCH_CELLS, GPU_BATCH_CELLS = 2**18, 2**19
BATCH_OVERHEAD, GPU_BATCH_OVERHEAD = 48, 2**14  # in subwords: about what launching the network costs
GPU_MEMORY = 16 * 2**30  # bytes that batches of these sizes fit in; a GPU with more memory takes larger ones,
MOST_TIMES = 8  # at most this many times larger: no more text than that is prepared together


class Launched(NamedTuple):
    """A batch that a device works on.

    done: a mark after it in the queue of a GPU.
    """

    work: Any
    done: torch.cuda.Event | None


class TorchRuntime:
    """Runs a network on a device. See `Runtime`."""

    name: RuntimeName = "torch"

    def __init__(self, network: AnyNetwork, device: Device = None, precision: Precision = "fp32") -> None:
        if precision == "int8":
            raise DisconerError(
                "torch does not run a model in int8",
                fix="Use ONNX Runtime, on the CPU, or bf16.",
            )
        self._device = usable_device(device)
        self.device = str(self._device)
        on_cpu, times = self._device.type == "cpu", _times_larger(self._device)
        self.batch_subwords = BATCH_SUBWORDS if on_cpu else times * GPU_BATCH_SUBWORDS
        self.batch_cells = BATCH_CELLS if on_cpu else times * GPU_BATCH_CELLS
        self.batch_overhead = BATCH_OVERHEAD if on_cpu else GPU_BATCH_OVERHEAD
        self.size_multiple = size_multiple(self._device)
        self._network = (_in_bf16(network) if precision == "bf16" else network).to(self._device)
        self._reading: torch.cuda.Stream | None = None
        if self._device.type == "cuda":
            self._reading = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """See `Runtime`. A device other than the CPU works on the next batch while this one's entities are read."""
        if self._device.type == "cpu":
            return (self.collect(self.launch(arrays)) for arrays in batches)
        return self._find_ahead(batches)

    def near(self) -> TorchRuntime:
        """See `Runtime`."""
        head = self._network.head
        if not isinstance(head, NearHead):
            return self
        other = copy(self)
        other._network = Network(words=self._network.words, head=head.near())
        return other

    def _find_ahead(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        launched: Launched | None = None
        for arrays in batches:
            next_one = self.launch(arrays)
            if launched is not None:
                yield self.collect(launched)
            launched = next_one
        if launched is not None:
            yield self.collect(launched)

    @torch.inference_mode()
    def launch(self, arrays: WordArrays) -> Launched:
        """Put the work on a batch on the device, without waiting for it."""
        if self._network.training:  # it may be trained between two batches
            self._network.eval()
        work = self._network.launch(WordBatch.from_arrays(arrays, self._device))
        return Launched(work, torch.cuda.current_stream(self._device).record_event() if self._reading else None)

    @torch.inference_mode()
    def collect(self, launched: Launched) -> list[list[Found]]:
        """The entities of a batch that was launched."""
        with self._beside(launched.done):
            return self._network.head.collect(launched.work)

    @torch.inference_mode()
    def fetch(self, launched: Launched) -> Any:
        """What the entities of a batch are read from without torch (`Fetching`); of other heads, the entities."""
        head = self._network.head
        with self._beside(launched.done):
            return head.fetch(launched.work) if isinstance(head, Fetching) else head.collect(launched.work)

    @contextmanager
    def _beside(self, done: torch.cuda.Event | None) -> Iterator[None]:
        """Within, results of a finished batch are copied from a GPU while it works on the next one, not after it."""
        if self._reading is None or done is None:
            yield
            return
        self._reading.wait_event(done)
        with torch.cuda.stream(self._reading):
            yield


def _times_larger(device: torch.device) -> int:
    """How many times as large as usual the batches of a GPU may be."""
    if device.type != "cuda":
        return 1
    memory = torch.cuda.get_device_properties(device).total_memory
    return max(1, min(MOST_TIMES, memory // GPU_MEMORY))


def _in_bf16(network: AnyNetwork) -> AnyNetwork:
    """A copy in bf16; the model itself is not changed.

    LSTMs stay in float32: cuDNN would copy the weights of a bf16 LSTM again for every batch.
    """
    short = deepcopy(network).to(torch.bfloat16)
    for module in short.modules():
        if isinstance(module, nn.RNNBase):
            module.float()
    return short
