"""Exported models: their part of config.json and of the card, and the files of their folder. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disconer.nn.bits import CHANGE_BITS, MATRIX_BITS, TABLE_BITS
from disconer.store.card import comparison_in_words

RUNTIME = "runtime"  # the key in config.json of the description below


@dataclass(frozen=True, slots=True)
class RuntimeDescription:
    """The part of config.json for exported models.

    int8: whether its weights are quantised to 8 bits.
    max_subwords: of a window, those around it included; None for no limit.
    padding: the id of padding.
    checked: comparison with the original model, from `Comparison.to_dict`; None if unknown.
    """

    int8: bool
    max_subwords: int | None
    padding: int
    kind: str = "onnx"
    checked: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """A sentence for the model card."""
        weights = ", with weights quantised to 8 bits" if self.int8 else ""
        said = [
            f"This is an export for ONNX Runtime{weights}. It runs on the CPU without torch.",
            "The figures below were measured before the export.",
        ]
        if self.checked:
            said.append(comparison_in_words(self.checked))
        return "\n".join(said)


COMPACT = "compact"  # the key in config.json of the description below


@dataclass(frozen=True, slots=True)
class CompactDescription:
    """The part of config.json for compact models.

    base: a bundled encoder, if the model stores only the difference from it.
    base_digest: of that encoder's weights.
    checked: comparison with the original model, from `Comparison.to_dict`; None if unknown.
    """

    table_bits: int = TABLE_BITS
    matrix_bits: int = MATRIX_BITS
    change_bits: int = CHANGE_BITS
    base: str | None = None
    base_digest: str | None = None
    checked: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """A sentence for the model card."""
        said = [
            f"It is stored compactly: weights are quantised to {self.matrix_bits} bits, those of embeddings to "
            f"{self.table_bits}, and computation is in 32 bits."
        ]
        if self.base:
            said.append(
                f"Of its encoder, only the difference from the bundled `{self.base}` is stored, with "
                f"{self.change_bits} bits."
            )
        if self.checked:
            said.append(comparison_in_words(self.checked))
        return "\n".join(said)


INT8 = "int8"  # the key in config.json of a comparison: the model in 8 bits with itself in 32; see `Comparison.to_dict`
MOST_LOST = 0.003  # F1: more is not worth the speed without being asked


def is_proven(description: Mapping[str, Any]) -> bool:
    """Whether a model is known to lose little in int8."""
    checked = description.get(INT8)
    return checked is not None and checked["before"]["f1"] - checked["after"]["f1"] <= MOST_LOST


def export_in_words(description: Mapping[str, Any]) -> str | None:
    """A sentence for the model card, if it is an export."""
    if RUNTIME in description:
        return RuntimeDescription(**description[RUNTIME]).in_words
    said = [CompactDescription(**description[COMPACT]).in_words] if COMPACT in description else []
    if checked := description.get(INT8):
        said.append(comparison_in_words(checked, "Computed with 8 bits (`--precision int8`)"))
    return "\n".join(said) or None
