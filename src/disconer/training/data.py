"""The training data of a run: read, segmented, cut into windows, and accounted for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from disconer.config import DataConfig
from disconer.errors import DisconerError, Where
from disconer.formats import read
from disconer.formats.source import Source
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.types import Document


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Segmented documents of each split, and the labels that can be learnt."""

    train: list[Document]
    dev: list[Document]
    test: list[Document] | None
    labels: tuple[str, ...]

    @property
    def unseen_labels(self) -> tuple[str, ...]:
        """Labels that only dev or test have: nothing can find them, so they count as missed."""
        others = {entity.label for split in (self.dev, self.test or []) for doc in split for entity in doc.entities}
        return tuple(sorted(others - set(self.labels)))


def read_data(config: DataConfig) -> TrainingData:
    """Read all splits; what cannot be trained on is said at once."""
    train = _read_split(config, config.train)
    labels = tuple(sorted({entity.label for document in train for entity in document.entities}))
    if not labels:
        raise DisconerError(
            "The training data has no entities",
            where=Where(config.train),
            fix="Check the path, and that annotations and texts are in one place (`disconer stats` shows them).",
        )
    test = None if config.test is None else _read_split(config, config.test)
    return TrainingData(train, _read_split(config, config.dev), test, labels)


def _read_split(config: DataConfig, path: str) -> list[Document]:
    splitter, tokenizer = SPLITTERS[config.splitter], TOKENIZERS[config.tokenizer]
    documents = [segment(document, splitter, tokenizer) for document in read(path, config.format)]
    if not documents:
        raise DisconerError("There are no documents here", where=Where(path), fix="Check the path and the format.")
    return documents


def data_hash(path: str) -> str:
    """A fingerprint of all files of a split, names included."""
    digest = hashlib.sha256()
    for member in Source(Path(path)):
        digest.update(member.name.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(hashlib.sha256(member.read()).digest())
    return digest.hexdigest()
