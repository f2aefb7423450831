"""The recogniser: raw text in, documents with entities out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import torch

from disconer.errors import DisconerError, Where
from disconer.model.batch import word_batch
from disconer.model.checkpoint import Model, load_model, save_model
from disconer.model.examples import Windower, batches_by_length
from disconer.model.head import Found
from disconer.model.windows import Window
from disconer.text.align import to_fragments
from disconer.types import Document, Entity

BATCH_TOKENS = 2048  # words a batch, padding counted: bounds the memory of prediction whatever the text
DOCUMENTS_AHEAD = 64  # documents that are sorted by sentence length together
RUN_FOLDERS = ("best", "last")  # where a training run keeps its models


class Recognizer:
    """Finds the entities of texts.

    >>> ner = Recognizer.from_pretrained("runs/chia")  # doctest: +SKIP
    >>> ner("History of severe renal or hepatic impairment.").entities  # doctest: +SKIP
    """

    def __init__(self, model: Model, *, device: str | torch.device | None = None) -> None:
        self.model = model
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._network = model.network.to(self.device)
        self._windower = Windower(model.config.data, model.tokenizer, model.max_pieces)

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | os.PathLike[str], *, device: str | torch.device | None = None
    ) -> Recognizer:
        """Load a model folder, or the best model of a training run's folder."""
        folder = Path(name_or_path)
        if not folder.exists():
            raise DisconerError(
                "There is no such model",
                where=Where(str(name_or_path)),
                fix="Give the folder that `disconer train` wrote.",
            )
        for name in RUN_FOLDERS:
            if (folder / name / "model.safetensors").is_file():
                folder = folder / name
                break
        return cls(load_model(folder), device=device)

    def save_pretrained(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a folder that `from_pretrained` reads."""
        save_model(self.model, Path(path))

    @property
    def labels(self) -> tuple[str, ...]:
        return self.model.labels

    def __call__(self, text: str) -> Document:
        """The entities of one text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], *, batch_size: int = DOCUMENTS_AHEAD) -> Iterator[Document]:
        """The entities of many texts, streaming, in their order; `batch_size` texts are looked at together."""
        documents = (Document(f"text-{number}", text) for number, text in enumerate(texts, 1))
        return self.annotate(documents, batch_size=batch_size)

    def annotate(self, documents: Iterable[Document], *, batch_size: int = DOCUMENTS_AHEAD) -> Iterator[Document]:
        """Documents with the entities that the model finds in place of their own; all else is kept."""
        stream = iter(documents)
        while chunk := list(islice(stream, batch_size)):
            yield from self._annotate(chunk)

    def _annotate(self, documents: list[Document]) -> Iterator[Document]:
        segmented = [self._windower.segment(document) for document in documents]
        owners: list[int] = []
        windows: list[Window] = []
        for number, document in enumerate(segmented):
            for own in self._windower.windows(document):
                owners += [number] * len(own)
                windows += own
        found: list[list[Entity]] = [[] for _ in documents]
        for number, window, own_found in zip(owners, windows, self._find(windows), strict=True):
            found[number] += [_entity(entity, window) for entity in own_found]
        for document, entities in zip(segmented, found, strict=True):
            numbered = [
                Entity(entity.label, entity.fragments, f"T{number}", entity.score)
                for number, entity in enumerate(sorted(entities, key=_position), 1)
            ]
            yield document.replace(entities=tuple(numbered))

    def _find(self, windows: list[Window]) -> list[list[Found]]:
        """The entities of each window, whatever the order in which batches take them."""
        found: list[list[Found]] = [[] for _ in windows]
        self._network.eval()
        for batch in batches_by_length([len(window) for window in windows], BATCH_TOKENS):
            words = word_batch([windows[position] for position in batch], self.model.tokenizer).to(self.device)
            for position, entities in zip(batch, self._network.find(words), strict=True):
                found[position] = entities
        return found


def _entity(found: Found, window: Window) -> Entity:
    ranges = tuple((first + window.start, end + window.start) for first, end in found.ranges)
    return Entity(found.label, to_fragments(ranges, window.sentence), score=found.score)


def _position(entity: Entity) -> tuple[int, int, str]:
    return entity.start, entity.end, entity.label
