"""What an encoder is: the part of a network that makes word vectors of what its reader reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from disconer.nn.reader import Reader
from disconer.nn.tensors import WordBatch


class WordEncoder(nn.Module, ABC):
    """Word vectors of a batch."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers of a word vector."""

    @property
    def max_subwords(self) -> int | None:
        """How many pieces it takes at once, special ones included; None for no limit."""
        return None

    @property
    def vectors(self) -> nn.Parameter | None:
        """The table of vectors that it starts from, one a piece, if training may push it; else None."""
        return None

    @abstractmethod
    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, size)"""

    @abstractmethod
    def pretrained_parameters(self) -> list[nn.Parameter]:
        """Those that learn at the encoder's own rate."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """JSON values from which, with the configuration, it can be built again; its weights are kept elsewhere."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoder and what reads for it.

    notes: what there is to say about them, line by line.
    """

    encoder: WordEncoder
    reader: Reader
    notes: tuple[str, ...] = ()
