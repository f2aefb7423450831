"""The settings of a prediction, and the interface of a recogniser that it needs. No torch here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from disconer.core.types import Document
from disconer.text import SplitterName

Precision = Literal["fp32", "bf16", "int8", "auto"]
RuntimeName = Literal["onnx", "torch"]


class Annotator(Protocol):
    """The part of `Recognizer` that prediction uses."""

    def annotate(self, documents: Iterable[Document]) -> Iterable[Document]: ...

    def annotate_blocks(self, blocks: Iterable[list[Document]]) -> Iterable[Document]: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a prediction; see `lazy.load_recognizer`.

    model: folder or name. labels: those that are wanted, with commas; None for all.
    threshold: see `Recognizer`.
    splitter, parser, device, precision, runtime: see `Recognizer`.
    """

    model: str
    labels: str | None = None
    threshold: float | None = None
    parser: str | None = None
    device: str | None = None
    precision: Precision = "fp32"
    splitter: SplitterName | None = None
    runtime: RuntimeName | None = None
