"""What was measured of an exported model, kept in its description. No torch here."""

from __future__ import annotations

from pathlib import Path

from disconer.model.description import read_description, write_description
from disconer.onnx.check import Comparison
from disconer.onnx.files import RUNTIME


def record_comparison(folder: Path, comparison: Comparison) -> None:
    """Add how a model compares with the one that it was exported from to its description and card."""
    description = read_description(folder)
    runtime = description[RUNTIME] | {"checked": comparison.to_dict()}
    write_description(folder, description | {RUNTIME: runtime})
