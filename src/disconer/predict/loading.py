"""The model in a folder, whichever runtime it is for. No torch here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from disconer.core.errors import DisconerError, Where
from disconer.core.files import ONNX_GRAPH

if TYPE_CHECKING:
    from disconer.nn.runtime import AnyModel


def load(folder: Path) -> AnyModel:
    """The model in a folder."""
    if (folder / ONNX_GRAPH).is_file():
        from disconer.predict.onnx.model import load_onnx_model

        return load_onnx_model(folder)
    try:
        from disconer.store.checkpoint import load_model
    except ModuleNotFoundError as error:
        raise DisconerError(
            "This model needs packages that are not installed",
            where=Where(str(folder)),
            got=str(error),
            fix="Install all of disconer (pip install .), or export the model on a machine that has it: "
            "`disconer export MODEL OUT --onnx`.",
        ) from error
    return load_model(folder)
