"""disconer: named entity recognition for entities of every shape."""

from typing import TYPE_CHECKING, Any

from disconer.errors import BadInput, DisconerError
from disconer.formats import read, write
from disconer.ledger import Ledger
from disconer.types import Corpus, Document, Entity, Fragment, Kind, Sentence, Token

if TYPE_CHECKING:
    from disconer.recognizer import Recognizer

__version__ = "0.1.0"

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
    "write",
]


def __getattr__(name: str) -> Any:
    """`Recognizer` brings torch, so it is loaded when somebody asks for it."""
    if name == "Recognizer":
        from disconer.recognizer import Recognizer

        return Recognizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
