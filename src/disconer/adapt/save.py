"""An adapted encoder on disk: an ordinary folder of transformers, without pickle."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from disconer.adapt.model import MaskedModel
from disconer.core.files import replace_file
from disconer.nn.encoders.hub import quiet

CONFIG = "config.json"
READABLE = 0o644


def save_encoder(model: MaskedModel, tokenizer: Any, folder: Path) -> None:
    """Write encoder, head and tokenizer. config.json, by which an encoder is found, comes last: what loads is whole."""
    with tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=folder) as staging, quiet():
        with model.as_language_model() as language_model:
            language_model.save_pretrained(staging)
        tokenizer.save_pretrained(staging)
        config = Path(staging) / CONFIG
        settings = json.loads(config.read_bytes())
        settings.pop("_name_or_path", None)  # a place on the machine that adapted it
        config.unlink()
        for file in sorted(Path(staging).iterdir()):
            file.chmod(READABLE)  # some are written for nobody else to read
            os.replace(file, folder / file.name)
    replace_file(folder / CONFIG, json.dumps(settings, indent=2, ensure_ascii=False).encode())
