"""What a head is: one way of finding entities on top of word vectors.

Everything up to word vectors and everything from entities on is shared by all heads, so that their figures compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

from torch import Tensor

from disconer.model.batch import WordBatch
from disconer.model.windows import Window
from disconer.text.align import Range, TokenEntity

WindowTargets = TypeVar("WindowTargets")
Targets = TypeVar("Targets")


class Found(NamedTuple):
    """An entity that a head reads off a window: label, token ranges by position in the window, score."""

    label: str
    ranges: tuple[Range, ...]
    score: float


class Head(Protocol[WindowTargets, Targets]):
    """Targets, loss and decoding of one way of finding entities."""

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> WindowTargets:
        """What the gold entities of a window's sentence ask of this head: made once, before training."""
        ...

    def batch_targets(self, targets: Sequence[WindowTargets]) -> Targets:
        """The targets of a batch of windows as tensors, on the CPU."""
        ...

    def loss(self, words: Tensor, batch: WordBatch, targets: Targets) -> Tensor:
        """The summed loss of a batch."""
        ...

    def find(self, words: Tensor, batch: WordBatch) -> list[list[Found]]:
        """The entities of each window of a batch."""
        ...
