"""What reads text for an exported model. No torch and no transformers here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.config import EncoderConfig
from disconer.core.errors import DisconerError, Where
from disconer.nn.encoders.hub import first_line
from disconer.nn.encoders.transformer.subwords import PieceTokenizer
from disconer.nn.encoders.vectors.reader import WordReader, load_words
from disconer.nn.reader import Reader

TOKENIZER = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class SavedTokenizer:
    """A tokenizer.json as `PieceTokenizer` expects it: what a tokenizer of transformers is, without transformers."""

    backend_tokenizer: Any
    pad_token_id: int

    def save_pretrained(self, folder: str) -> None:
        self.backend_tokenizer.save(str(Path(folder) / TOKENIZER))


def load_reader(config: EncoderConfig, folder: Path, *, padding: int, case: bool) -> Reader:
    """The reader of the exported model in a folder."""
    if config.kind == "vectors":
        return WordReader(load_words(folder), spelled=config.characters is not None)
    return PieceTokenizer(SavedTokenizer(_load_tokenizer(folder / TOKENIZER), padding), case=case)


def _load_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # what the tokenizers library raises has no type of its own
        raise DisconerError(
            "The tokenizer of this model is missing or damaged",
            where=Where(str(path)),
            got=first_line(error),
            fix="Copy the model again, whole.",
        ) from error
