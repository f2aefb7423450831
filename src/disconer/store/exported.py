"""What config.json and the card say of a model that was exported, and the files of its folder. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disconer.nn.bits import CHANGE_BITS, MATRIX_BITS, TABLE_BITS
from disconer.store.card import comparison_in_words

ONNX = ".onnx"  # the names of all graphs: the network itself (`core.files.ONNX_GRAPH`), and what its head has beside it
HEAD_ARRAYS = "head.safetensors"  # numbers that the head needs to make entities of the network's scores
RUNTIME = "runtime"  # what config.json calls the description below


@dataclass(frozen=True, slots=True)
class RuntimeDescription:
    """What config.json says of an exported model beyond what it says of every model.

    int8: whether its weights have 8 bits.
    max_pieces: of a window, those around it included; None for no limit.
    padding: the number that fills up rows of pieces.
    checked: how it compares with the model that it was exported from, as `Comparison.to_dict` has it; None if unknown.
    """

    int8: bool
    max_pieces: int | None
    padding: int
    kind: str = "onnx"
    checked: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """For the card of the model."""
        weights = ", its weights rounded to 8 bits" if self.int8 else ""
        said = [
            f"This is an export for ONNX Runtime{weights}. It runs on the CPU and needs no torch.",
            "The figures below were measured before the export.",
        ]
        if self.checked:
            said.append(comparison_in_words(self.checked))
        return "\n".join(said)


COMPACT = "compact"  # what config.json calls the description below


@dataclass(frozen=True, slots=True)
class CompactDescription:
    """What config.json says of a compact model beyond what it says of every model.

    base: the encoder that comes with disconer, if the model stores only what training changed in it.
    base_digest: of that encoder's weights.
    checked: how it compares with the model that it was made of, as `Comparison.to_dict` has it; None if unknown.
    """

    table_bits: int = TABLE_BITS
    matrix_bits: int = MATRIX_BITS
    change_bits: int = CHANGE_BITS
    base: str | None = None
    base_digest: str | None = None
    checked: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """For the card of the model."""
        said = [
            f"It is stored compactly: weights are rounded to {self.matrix_bits} bits, those of tables to "
            f"{self.table_bits}, and computed with 32 bits."
        ]
        if self.base:
            said.append(
                f"Of its encoder only the change from `{self.base}`, which comes with disconer, is stored, with "
                f"{self.change_bits} bits."
            )
        if self.checked:
            said.append(comparison_in_words(self.checked))
        return "\n".join(said)


def export_in_words(description: Mapping[str, Any]) -> str | None:
    """For the card of the model, if it is an export."""
    if RUNTIME in description:
        return RuntimeDescription(**description[RUNTIME]).in_words
    if COMPACT in description:
        return CompactDescription(**description[COMPACT]).in_words
    return None
