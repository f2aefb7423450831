"""The recogniser: raw text in, documents with entities out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from disconer.config import SyntaxConfig
from disconer.errors import DisconerWarning
from disconer.model.arrays import word_arrays
from disconer.model.examples import Windower, batches_by_length
from disconer.model.found import Found
from disconer.model.runtime import AnyModel, Device, batch_size
from disconer.model.scores import ScoreScale
from disconer.model.windows import Window
from disconer.models import find_model, load
from disconer.text.align import to_fragments
from disconer.text.syntax.account import Account
from disconer.text.syntax.attach import Syntax
from disconer.text.syntax.make import make_syntax
from disconer.text.syntax.spec import NONE
from disconer.types import Document, Entity

DOCUMENTS_AHEAD = 64  # documents whose sentences are sorted by length together
CHARACTERS_AHEAD = 200_000  # of these documents, if they are long
WITHOUT_HEADS = "Some sentences have no syntactic heads, at which this model looks"
PARSER_ADVICE = "Entities are found without them, less well; another parser may help (parser=…, or --parser)."


class Recognizer:
    """Finds the entities of texts.

    >>> ner = Recognizer.from_pretrained("runs/chia")  # doctest: +SKIP
    >>> ner("History of severe renal or hepatic impairment.").entities  # doctest: +SKIP
    """

    def __init__(
        self, model: AnyModel, *, device: Device = None, parser: str | None = None, keep_parses: bool = False
    ) -> None:
        """Make a recogniser of a loaded model.

        parser: gives sentences their heads in place of the parser that the model was trained with; "none" leaves
            them as they are.
        keep_parses: keep trees on disk, so that the same text is not parsed again.
        """
        self.model = model
        self.parsing = Account()  # of all sentences that it saw, if it looks at their heads
        self._syntax = _syntax_for(model.config.syntax, parser, keep_parses)
        self._runtime = model.runtime(device)
        self._windower = Windower(model.config.data, model.reader, model.max_pieces)
        self._batch_size = batch_size(model, self._runtime)

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str],
        *,
        device: Device = None,
        parser: str | None = None,
        keep_parses: bool = False,
    ) -> Recognizer:
        """Load a model: its folder, the folder of a training run (then its best), a package, or a name on the Hub."""
        return cls(load(find_model(name_or_path)), device=device, parser=parser, keep_parses=keep_parses)

    def save_pretrained(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a folder that `from_pretrained` reads."""
        self.model.save(Path(path))

    @property
    def device(self) -> str:
        """Where its network runs, as torch names devices."""
        return self._runtime.device

    @property
    def labels(self) -> tuple[str, ...]:
        return self.model.labels

    def __call__(self, text: str) -> Document:
        """The entities of one text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], *, batch_size: int = DOCUMENTS_AHEAD) -> Iterator[Document]:
        """The entities of many texts, streaming, in their order; up to `batch_size` texts are looked at together."""
        if isinstance(texts, str):
            raise TypeError("pipe takes many texts; for a single one call the recogniser itself")
        return self.annotate(_as_documents(texts), batch_size=batch_size)

    def annotate(self, documents: Iterable[Document], *, batch_size: int = DOCUMENTS_AHEAD) -> Iterator[Document]:
        """Documents with the entities that the model finds in place of their own; all else is kept.

        Those that have no sentences yet get them, and so do sentences that have no heads, if the model looks at heads.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}")
        return (found for chunk in _chunks(documents, batch_size) for found in self._annotate(chunk))

    def _annotate(self, documents: list[Document]) -> Iterator[Document]:
        segmented = self._with_heads([self._windower.segment(document) for document in documents])
        owners: list[int] = []
        windows: list[Window] = []
        for number, document in enumerate(segmented):
            for own in self._windower.windows(document):
                owners += [number] * len(own)
                windows += own
        found: list[list[Entity]] = [[] for _ in documents]
        for number, window, in_window in zip(owners, windows, self._find(windows), strict=True):
            owned = [entity for entity in in_window if window.owns(entity.ranges[0][0])]
            found[number] += [_entity(entity, window, self.model.scale) for entity in owned]
        for document, entities in zip(segmented, found, strict=True):
            numbered = [
                Entity(entity.label, entity.fragments, f"T{number}", entity.score)
                for number, entity in enumerate(sorted(entities, key=_position), 1)
            ]
            yield document.replace(entities=tuple(numbered))

    def _with_heads(self, documents: list[Document]) -> list[Document]:
        if self._syntax is None:
            return documents
        known = set(self.parsing.without)
        parsed = self._syntax(documents, self.parsing)
        for reason in self.parsing.without.keys() - known:
            warnings.warn(f"{WITHOUT_HEADS}: {reason}. {PARSER_ADVICE}", DisconerWarning, stacklevel=2)
        return parsed

    def _find(self, windows: list[Window]) -> list[list[Found]]:
        """The entities of each window, whatever the order in which batches take them."""
        found: list[list[Found]] = [[] for _ in windows]
        sizes = [max(len(window), len(window.pieces.ids)) for window in windows]
        batches = batches_by_length(sizes, self._batch_size)
        arrays = (word_arrays([windows[position] for position in batch], self.model.reader) for batch in batches)
        for batch, in_batch in zip(batches, self._runtime.find(arrays), strict=True):
            for position, entities in zip(batch, in_batch, strict=True):
                found[position] = entities
        return found


def _syntax_for(config: SyntaxConfig, parser: str | None, keep_parses: bool) -> Syntax | None:
    """What gives sentences the heads that a model looks at; None if it looks at none, or is to take what there is."""
    chosen = parser or (config.parser if config.needed else NONE)
    return None if chosen == NONE else make_syntax(chosen, missing=config.missing, cache=keep_parses)


def _as_documents(texts: Iterable[str]) -> Iterator[Document]:
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise TypeError(f"a recogniser reads texts (str), got {type(text).__name__}")
        yield Document(f"text-{number}", text)


def _chunks(documents: Iterable[Document], most: int) -> Iterator[list[Document]]:
    """Documents to be looked at together: at most so many, and not much text."""
    chunk: list[Document] = []
    n_characters = 0
    for document in documents:
        chunk.append(document)
        n_characters += len(document.text)
        if len(chunk) == most or n_characters >= CHARACTERS_AHEAD:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


def _entity(found: Found, window: Window, scale: ScoreScale) -> Entity:
    ranges = tuple((first + window.start, end + window.start) for first, end in found.ranges)
    return Entity(found.label, to_fragments(ranges, window.sentence), score=scale(found.score))


def _position(entity: Entity) -> tuple[object, ...]:
    return entity.start, entity.end, entity.label, entity.fragments
