"""Kinds of encoders: what a kind provides, and the registry of kinds. No torch here.

disconer has `transformer`, `vectors` and `elmo`, each in a folder of that name: its `__init__` has the kind and the
reader, which need no torch. Other packages add kinds under the entry-point group `disconer.encoders`; each entry point
names an `EncoderKind`. A kind may import `core`, `config` and `nn`, but no other kind and no head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from disconer.config import ENCODERS, EncoderConfig
from disconer.core.plugins import Registry
from disconer.nn.reader import Reader

if TYPE_CHECKING:
    from disconer.nn.interfaces import Encoding


Words = Callable[[], Iterable[str]]  # the distinct words of the data, for encoders that need them


class ExportedReader(Protocol):
    """Loads the reader of an exported model."""

    def __call__(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path, *, padding: int) -> Reader:
        """folder: that of the exported model. padding: the id that pads rows."""
        ...


class EncoderKind(Protocol):
    """All that depends on the kind of encoder. Importing one does not import torch: its methods do, if they need it.

    reads_context: whether sentences that are read together influence each other's word vectors; if not,
        encoder.context has no effect.
    """

    @property
    def reads_context(self) -> bool: ...

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        """The pretrained encoder and its reader, for texts with these words."""
        ...

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        """The encoder that a model folder describes, and its reader; weights are loaded later."""
        ...

    @property
    def load_exported_reader(self) -> ExportedReader | None:
        """Loads the reader of an exported model, without torch; None: models with this encoder cannot be exported."""
        ...


ENCODER_KINDS = cast("Registry[EncoderKind]", ENCODERS)
