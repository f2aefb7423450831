"""Word vectors from files of every usual form, read once and memory-mapped from then on, and their encoder.

No torch but in `encoder`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disconer.config import EncoderConfig
from disconer.nn.encoders.encoding import Words
from disconer.nn.reader import Reader

if TYPE_CHECKING:
    from disconer.nn.encoders.encoder import Encoding


class VectorsKind:
    """See `EncoderKind`."""

    reads_context = False

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        from disconer.nn.encoders.vectors.encoder import load_vector_encoding

        return load_vector_encoding(config, words())

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        from disconer.nn.encoders.vectors.encoder import build_vector_encoding

        return build_vector_encoding(config, description, folder)

    def load_exported_reader(
        self, config: EncoderConfig, description: Mapping[str, Any], folder: Path, *, padding: int
    ) -> Reader:
        from disconer.nn.encoders.vectors.reader import load_word_reader

        return load_word_reader(config, folder)


KIND = VectorsKind()
