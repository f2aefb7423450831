"""What runs a trained network. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from disconer.config import Config
from disconer.nn.arrays import WordArrays
from disconer.nn.reader import Reader
from disconer.nn.scores import ScoreScale
from disconer.nn.windows import Found

if TYPE_CHECKING:
    import torch

Device: TypeAlias = "str | torch.device | None"
Precision: TypeAlias = Literal["fp32", "bf16", "int8", "auto"]
RuntimeName: TypeAlias = Literal["onnx", "torch"]


class Runtime(Protocol):
    """A network that is ready to find entities.

    name: of what runs it.
    device: where it runs, as torch names devices.
    batch_subwords, batch_cells: maximum size of a batch, padding included: for the encoder, and for the head
        (`HeadKind.cells`). They bound the memory of prediction, whatever the text.
    batch_overhead: the fixed cost of a batch, in subwords.
    size_multiple: the words and subwords of a batch should be padded to a multiple of this.
    """

    name: RuntimeName
    device: str
    batch_subwords: int
    batch_cells: int
    batch_overhead: int
    size_multiple: int

    def find(self, batches: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        """The entities of each window of each batch, in their order."""
        ...

    def near(self) -> Runtime:
        """The same network, which also gives near misses, if its head can: entities of a low probability."""
        ...


class AnyModel(Protocol):
    """What a recogniser needs of a model, whichever way it is run.

    max_subwords: of a window, special tokens included; None for no limit.
    scale: calibrates the scores of its entities.
    """

    @property
    def config(self) -> Config: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def reader(self) -> Reader: ...
    @property
    def max_subwords(self) -> int | None: ...
    @property
    def scale(self) -> ScoreScale: ...

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> Runtime:
        """Make it ready to run; device None: the best available."""
        ...

    def save(self, folder: Path) -> None:
        """Write it as a folder that `Recognizer.from_pretrained` reads."""
        ...
