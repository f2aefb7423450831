"""Chunks: documents that the recogniser processes together, cut into batches for a network and reassembled with their
entities; and which entities a call requests.
"""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import count, zip_longest
from numbers import Real
from operator import itemgetter
from typing import Any

from disconer.core.errors import DisconerError
from disconer.core.progress import note
from disconer.core.types import Document, Entity, Fragment, normalise
from disconer.nn.arrays import WordArrays, word_arrays
from disconer.nn.heads.kind import kind_of
from disconer.nn.runtime import AnyModel, Runtime
from disconer.nn.scores import ScoreScale
from disconer.nn.windows import Found, Window, Windower, affordable, cheapest_batches
from disconer.text.alignment import cuts_word, is_visible, visible_part

# The number of documents whose sentences are sorted by length together, so that batches have little padding.
DOCUMENTS_AHEAD = 1024
CHARACTERS_AHEAD = 200_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Documents that are processed together, ready for the network.

    owners: index of each passage's document.
    passages: windows that are read together.
    plan: indices of the passages of each batch.
    whole_words: whether entities that cut words are left out.
    found: entities of each batch so far.
    """

    documents: list[Document]
    owners: list[int]
    passages: list[list[Window]]
    plan: list[list[int]]
    batches: list[WordArrays]
    whole_words: bool
    found: list[list[list[Found]]] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return len(self.found) == len(self.plan)

    @property
    def done(self) -> str:
        """Progress for messages: a single text may take minutes."""
        return f"batch {len(self.found):,} of {len(self.plan):,}"

    def annotated(self, scale: ScoreScale, wanted: Wanted) -> Iterator[Document]:
        """The documents of a complete chunk with their wanted entities.

        Entities are numbered before others are left out.
        """
        placed: list[list[Placed]] = [[] for _ in self.documents]
        for positions, batch in zip(self.plan, self.found, strict=True):
            places = [(self.owners[position], window) for position in positions for window in self.passages[position]]
            for (owner, window), in_window in zip(places, batch, strict=True):
                if in_window:
                    placed[owner] += _placed(in_window, window)
        for document, own in zip(self.documents, placed, strict=True):
            own = list(_without_edges(own, document.text))
            entities = [
                Entity(label, fragments, f"T{number}", score)
                for number, (_, _, label, fragments, unscaled) in enumerate(sorted(own, key=_position), 1)
                if label in wanted.labels
                and (score := scale(unscaled)) >= (wanted.threshold or 0.0)
                and is_visible(document.text, fragments)
                and not (self.whole_words and cuts_word(document.text, fragments))
            ]
            yield document.replace(entities=tuple(entities))


def completed(chunks: Iterable[Chunk], runtime: Runtime) -> Iterator[Chunk]:
    """Chunks with all their entities. Batches of the next one may already be running when one is complete."""
    waiting: deque[Chunk] = deque()

    def batches() -> Iterator[WordArrays]:
        for chunk in chunks:
            waiting.append(chunk)
            yield from chunk.batches

    for found in runtime.find(batches()):
        while waiting[0].is_complete:  # it has no words, so no batches
            yield waiting.popleft()
        waiting[0].found.append(found)
        note(waiting[0].done)
        if waiting[0].is_complete:
            yield waiting.popleft()
    yield from waiting


def as_documents(texts: Iterable[str], ids: Iterable[str] | None = None) -> Iterator[Document]:
    numbered = (f"text-{number}" for number in count(1))
    for id, text in zip(numbered, texts) if ids is None else _paired(ids, texts):  # noqa: B905
        if not isinstance(text, str):
            raise TypeError(f"a recogniser reads texts (str), got {type(text).__name__}")
        yield Document(id, text)


def _paired(ids: Iterable[str], texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    missing: Any = object()
    for id, text in zip_longest(ids, texts, fillvalue=missing):
        if id is missing or text is missing:
            raise ValueError(f"pipe needs as many ids as texts; there are fewer {'ids' if id is missing else 'texts'}")
        yield id, text


def remembered(pairs: Iterable[tuple[str, Any]], waiting: deque[Any]) -> Iterator[str]:
    """The texts of pairs; the rest waits for their results."""
    for pair in pairs:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise TypeError(f"with as_tuples, pipe takes pairs (text, anything), got a {type(pair).__name__}")
        waiting.append(pair[1])
        yield pair[0]


def chunk_documents(documents: Iterable[Document], most: int) -> Iterator[list[Document]]:
    """Groups of documents to be processed together, limited in number and length."""
    chunk: list[Document] = []
    n_characters = 0
    for document in documents:
        if not isinstance(document, Document):
            raise TypeError(f"annotate takes documents, got a {type(document).__name__}; for texts, use pipe(texts)")
        chunk.append(document)
        n_characters += len(document.text)
        if len(chunk) == most or n_characters >= CHARACTERS_AHEAD:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


class Chunker:
    """Cuts segmented documents into batches for a model, of sizes that suit its runtime."""

    def __init__(self, windower: Windower, model: AnyModel, runtime: Runtime) -> None:
        self._windower, self._reader, self._runtime = windower, model.reader, runtime
        self._whole_words = model.config.data.whole_words
        head = model.config.head
        self._window_cost = partial(kind_of(head).cells, settings=head, labels=model.labels)  # by its number of words

    def __call__(self, segmented: list[Document]) -> Chunk:
        owners: list[int] = []
        passages: list[list[Window]] = []
        for number, own in enumerate(self._windower.passages_of(segmented)):
            owners += [number] * len(own)
            passages += own
        sizes = [sum(max(len(window), len(window.subwords.ids)) for window in passage) for passage in passages]
        together = cheapest_batches(sizes, self._runtime.batch_subwords, self._runtime.batch_overhead)
        lengths = [[len(window) for window in passage] for passage in passages]
        most = self._runtime.batch_cells
        plan = [part for batch in together for part in affordable(batch, lengths, self._window_cost, most)]
        batches = [
            word_arrays([passages[position] for position in batch], self._reader, multiple=self._runtime.size_multiple)
            for batch in plan
        ]
        return Chunk(segmented, owners, passages, plan, batches, self._whole_words)


Placed = tuple[int, int, str, tuple[Fragment, ...], float]  # start, end, label, fragments and score of an entity

_position = itemgetter(0, 1, 2, 3)
_new = tuple.__new__  # what `Fragment(…)` comes down to, at half the time


def _placed(in_window: Sequence[Found], window: Window) -> list[Placed]:
    """The entities that are read from a window, by their characters."""
    tokens, shift, (own, own_end) = window.sentence.tokens, window.start, window.own
    placed = []
    for label, ranges, score in in_window:
        if own <= ranges[0][0] + shift < own_end:
            fragments = tuple(
                [_new(Fragment, (tokens[first + shift][0], tokens[end + shift - 1][1])) for first, end in ranges]
            )
            if len(fragments) > 1:
                fragments = normalise(fragments)
            placed.append((fragments[0][0], fragments[-1][1], label, fragments, score))
    return placed


def _without_edges(placed: Iterable[Placed], text: str) -> Iterator[Placed]:
    """Entities without invisible characters at their edges; of those that become alike, the best."""
    best: dict[tuple[str, tuple[Fragment, ...]], float] = {}
    for _, _, label, fragments, score in placed:
        if visible := visible_part(text, fragments):
            best[label, visible] = max(score, best.get((label, visible), score))
    for (label, visible), score in best.items():
        yield visible[0][0], visible[-1][1], label, visible, score


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entities to keep. threshold: see `Recognizer`."""

    labels: frozenset[str]
    threshold: float | None

    def __post_init__(self) -> None:
        if self.threshold is None:
            return
        if not isinstance(self.threshold, Real) or not 0 <= self.threshold <= 1:
            raise ValueError(f"a threshold lies between 0 and 1, got {self.threshold!r}")


@lru_cache(maxsize=64)
def wanted_entities(labels: tuple[str, ...], threshold: float | None) -> Wanted:
    """Those of some labels; cached, as texts that come one by one mostly have the same settings."""
    return Wanted(frozenset(labels), threshold)


def known_labels(known: tuple[str, ...], chosen: Collection[str] | None) -> tuple[str, ...]:
    """Those of the labels of a model that are chosen; all, if none is."""
    if chosen is None:
        return known
    if isinstance(chosen, str):
        raise TypeError(f"labels are a collection of str, got {chosen!r}; for a single one, [{chosen!r}]")
    if unknown := [label for label in chosen if label not in known]:
        close = difflib.get_close_matches(unknown[0], known, 1)
        raise DisconerError(
            f"The model has no label {unknown[0]!r}",
            expected=f"some of {', '.join(known)}",
            fix=f"Did you mean {close[0]!r}?" if close else None,
        )
    return tuple(label for label in known if label in chosen)
