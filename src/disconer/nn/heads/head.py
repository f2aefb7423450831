"""What a head is: the part of a network that finds entities, on top of word vectors.

Everything up to word vectors and everything from entities on is shared by all heads, so that their figures compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from torch import Tensor, nn

from disconer.nn.tensors import WordBatch
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity

WindowTargets = TypeVar("WindowTargets")
Targets = TypeVar("Targets")
Launched = TypeVar("Launched")


class Head(Protocol[WindowTargets, Targets, Launched]):
    """Targets, loss and decoding of one way of finding entities: a module of torch with these methods.

    Targets have a method `to(device)`, as tensors have.
    """

    @property
    def stages(self) -> Mapping[str, nn.Module]:
        """Parts of it that `disconer bench` times each by itself, in the order in which they run."""
        ...

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> WindowTargets:
        """What the gold entities of a window's sentence ask of this head: made once, before training.

        Entities of labels that it does not know are left out.
        """
        ...

    def batch_targets(self, targets: Sequence[WindowTargets]) -> Targets:
        """The targets of a batch of windows as tensors, on the CPU."""
        ...

    def loss(self, words: Tensor, batch: WordBatch, targets: Targets) -> Tensor:
        """The summed loss of a batch.  words:  Shape: (B, N, d)"""
        ...

    def launch(self, words: Tensor, batch: WordBatch) -> Launched:
        """Put the work of finding entities on the device, without waiting for it."""
        ...

    def collect(self, launched: Launched) -> list[list[Found]]:
        """The entities of each window of a batch whose work was launched."""
        ...


AnyHead: TypeAlias = Head[Any, Any, Any]
