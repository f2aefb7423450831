"""A dependency parser for biomedical English: spacy.load("en_disconer_biomedical")."""

from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import get_model_meta, load_model_from_init_py

__version__ = get_model_meta(Path(__file__).parent)["version"]


def load(**overrides: Any) -> Language:
    return load_model_from_init_py(__file__, **overrides)
