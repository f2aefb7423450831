"""What a head is: one way of finding entities on top of word vectors.

Everything up to word vectors and everything from entities on is shared by all heads, so that their figures compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from disconer.nn.tensors import WordBatch
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

WindowTargets = TypeVar("WindowTargets")
Targets = TypeVar("Targets")
Scores = TypeVar("Scores")


class Head(Protocol[WindowTargets, Targets, Scores]):
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

    def begin(self, words: Tensor, batch: WordBatch) -> Scores:
        """Put the work of finding entities on the device, without waiting for it."""
        ...

    def finish(self, begun: Scores) -> list[list[Found]]:
        """The entities of each window of a batch whose work was begun."""
        ...
