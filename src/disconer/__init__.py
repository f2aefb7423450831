"""disconer: named entity recognition for entities of every shape."""

import os
from typing import TYPE_CHECKING, Any

from disconer.core.corpus import Corpus
from disconer.core.errors import BadInput, DisconerError
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Entity, Fragment, Kind
from disconer.core.version import __version__ as __version__
from disconer.formats import read, write
from disconer.formats.table import to_dataframe

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer

# ONNX Runtime reports its use to Microsoft, with an id of this computer, unless this is set before it starts.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__ = [
    "BadInput",
    "Corpus",
    "DisconerError",
    "Document",
    "Entity",
    "Fragment",
    "Kind",
    "Ledger",
    "Recognizer",
    "Sentence",
    "Token",
    "read",
    "to_dataframe",
    "write",
]


def __getattr__(name: str) -> Any:
    """`Recognizer` brings what it runs on, so it is loaded when someone asks for it."""
    if name == "Recognizer":
        from disconer.predict.recognizer import Recognizer

        return Recognizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What the package offers."""
    return [*__all__, "__version__"]
