"""What an exported model's folder holds. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disconer.core.folders import ONNX_GRAPH
from disconer.store.card import comparison_in_words

SPANS, PAIRS = ONNX_GRAPH, "pairs.onnx"  # the network: from pieces to scores of spans; scores of pairs of spans
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
