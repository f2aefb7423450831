"""Word vectors from ELMo: its reader, its layers, and its published weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disconer.config import EncoderConfig
from disconer.nn.encoders.encoding import Words

if TYPE_CHECKING:
    from disconer.nn.encoders.encoder import Encoding


class ElmoKind:
    """See `EncoderKind`."""

    reads_context = False
    load_exported_reader = None  # its LSTMs, clipped at every step, have no graph in `export`

    def load(self, config: EncoderConfig, words: Words) -> Encoding:
        from disconer.nn.encoders.elmo.encoding import load_elmo_encoding

        return load_elmo_encoding(config)

    def build(self, config: EncoderConfig, description: Mapping[str, Any], folder: Path) -> Encoding:
        from disconer.nn.encoders.elmo.encoding import build_elmo_encoding

        return build_elmo_encoding(description, folder)


KIND = ElmoKind()
