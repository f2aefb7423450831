"""A fingerprint of a model: tells whether a training would start from the same. No torch here."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from disconer.core.files import CONFIG
from disconer.store.description import read_description
from disconer.store.exported import COMPACT
from disconer.store.names import CARD

SECTIONS = ("encoder", "syntax", "head")  # of the configuration: those that say what the network is


def model_digest(folder: Path) -> str:
    """Of the weights, of what reads text, and of what the network is; not of the card and of what was measured."""
    description = read_description(folder)
    config = {section: description["config"].get(section) for section in SECTIONS}
    base = description.get(COMPACT, {}).get("base_digest")
    network = json.dumps([description["labels"], description["encoder"], config, base], sort_keys=True)
    digest = hashlib.sha256(network.encode())
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in (CONFIG, CARD) and not path.name.startswith("."):
            with open(path, "rb") as stream:
                digest.update(path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
