"""What a head is: the part of a network that finds entities, on top of word vectors.

Everything up to word vectors and everything from entities on is shared by all heads, so that their figures compare.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

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

AxisNames: TypeAlias = Mapping[int, Sequence[Hashable]]  # by axis, what each place along it stands for


@runtime_checkable
class Transferable(Protocol):
    """A head that can start from the parameters of another of its kind (`training.start_from`).

    A head without this method is as good a head; it starts fresh.
    """

    def axis_names(self) -> Mapping[str, AxisNames]:
        """Of each parameter whose size depends on labels, or on other things that may differ, what it has along which
        axis: places that have the same name in both heads are taken over, the others start fresh. All other
        parameters are taken over whole.

        An output layer with a row per label and one for no entity: {"output.weight": {0: (None, *labels)}, …}.
        """
        ...
