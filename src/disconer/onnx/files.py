"""What an exported model's folder holds. No torch here."""

from __future__ import annotations

from dataclasses import dataclass

from disconer.models import ONNX_GRAPH

SPANS, PAIRS = ONNX_GRAPH, "pairs.onnx"  # the network: from pieces to scores of spans; scores of pairs of spans
RUNTIME = "runtime"  # what config.json calls the description below


@dataclass(frozen=True, slots=True)
class RuntimeDescription:
    """What config.json says of an exported model beyond what it says of every model.

    int8: whether its weights have 8 bits.
    max_pieces: of a window, those around it included; None for no limit.
    padding: the number that fills up rows of pieces.
    checked: figures of the model before and after its export; None if they were not compared.
    """

    int8: bool
    max_pieces: int | None
    padding: int
    kind: str = "onnx"
    checked: dict[str, float | int | str] | None = None
