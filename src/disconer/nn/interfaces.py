"""What an encoder and a head must provide, to be parts of a network in torch.

Everything up to word vectors and everything from entities on is shared by all heads, so their results are comparable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from torch import Tensor, nn

from disconer.nn.devices import WordBatch
from disconer.nn.reader import Reader
from disconer.nn.windows import Found, Window
from disconer.text.alignment import TokenEntity


class WordEncoder(nn.Module, ABC):
    """Word vectors of a batch."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Size of a word vector."""

    @property
    def max_subwords(self) -> int | None:
        """How many subwords it takes at once, special tokens included; None for no limit."""
        return None

    @property
    def vectors(self) -> nn.Parameter | None:
        """The embedding table, one vector per subword, if adversarial training may perturb it; else None."""
        return None

    @abstractmethod
    def forward(self, batch: WordBatch) -> Tensor:
        """Shape: (B, N, size)"""

    @abstractmethod
    def pretrained_parameters(self) -> list[nn.Parameter]:
        """Those that have the encoder's learning rate."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """JSON values from which, with the configuration, it can be rebuilt; its weights are stored separately."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoder and its reader.

    notes: lines to show to the user.
    """

    encoder: WordEncoder
    reader: Reader
    notes: tuple[str, ...] = ()


WindowTargets = TypeVar("WindowTargets")
Targets = TypeVar("Targets")
Launched = TypeVar("Launched")


class Head(Protocol[WindowTargets, Targets, Launched]):
    """Targets, loss and decoding of one way of finding entities: a module of torch with these methods.

    Targets have a method `to(device)`, as tensors have.
    """

    @property
    def stages(self) -> Mapping[str, nn.Module]:
        """Parts that `disconer bench` times separately, in the order in which they run."""
        ...

    def window_targets(self, window: Window, entities: list[TokenEntity]) -> WindowTargets:
        """The targets of this head for a window, from the gold entities of its sentence: made once, before training.

        Entities with unknown labels are left out.
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


@runtime_checkable
class Fetching(Protocol):
    """A head whose entities are read in two steps, which may happen in two processes.

    This method is optional. The second step is `HeadKind.fetched_reader`, without torch.
    """

    def fetch(self, launched: Any) -> Any:
        """The data from which entities are read, copied from the device: small, and picklable."""
        ...


@runtime_checkable
class NearHead(Protocol):
    """A head that can also give near misses: entities of a probability of `heads.kind.NEAR` or more.

    This method is optional. For ONNX Runtime: `HeadKind.near_reader`.
    """

    def near(self) -> AnyHead:
        """A copy that does so, with the same parameters."""
        ...


AxisNames: TypeAlias = Mapping[int, Sequence[Hashable]]  # by axis, what each place along it stands for


@runtime_checkable
class Transferable(Protocol):
    """A head that can start from the parameters of another of its kind (`training.start_from`), and, if
    `HeadKind.scores_labels_apart`, be saved without some of the labels that it has learned (`data.labels`).

    This method is optional: a head without it starts fresh, and learns no labels but those that it predicts.
    """

    def axis_names(self) -> Mapping[str, AxisNames]:
        """For each parameter or buffer whose size depends on labels or other settings, names for the positions along
        such axes. Positions with the same name in both heads are taken over, the others start fresh. All other
        parameters are taken over completely.

        An output layer with a row per label and one for no entity: {"output.weight": {0: (None, *labels)}, …}.
        """
        ...
