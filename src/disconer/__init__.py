"""disconer: named entity recognition for entities of every shape."""

from disconer.errors import BadInput, DisconerError
from disconer.formats import read, write
from disconer.ledger import Ledger
from disconer.types import Corpus, Document, Entity, Fragment, Kind, Sentence, Token

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
    "Sentence",
    "Token",
    "read",
    "write",
]
