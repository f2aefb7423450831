"""What the recogniser works on: documents that are processed together, cut into batches for a network, and put together
again with what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from disconer.core.types import Document, Entity
from disconer.nn.arrays import WordArrays, word_arrays
from disconer.nn.reader import Reader
from disconer.nn.runtime import Runtime
from disconer.nn.scores import ScoreScale
from disconer.nn.windows import Found, Window, Windower, cheapest_batches
from disconer.text.alignment import to_fragments

# The number of documents whose sentences are sorted by length together, so that batches have little padding.
DOCUMENTS_AHEAD = 1024
CHARACTERS_AHEAD = 200_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Documents that are processed together, ready for the network.

    owners: index of each passage's document.
    passages: windows that are read together.
    plan: indices of the passages of each batch.
    found: entities of each batch so far.
    """

    documents: list[Document]
    owners: list[int]
    passages: list[list[Window]]
    plan: list[list[int]]
    batches: list[WordArrays]
    found: list[list[list[Found]]] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return len(self.found) == len(self.plan)

    @property
    def done(self) -> str:
        """How far it is, for people: a single text may take minutes."""
        return f"batch {len(self.found):,} of {len(self.plan):,}"

    def annotated(self, scale: ScoreScale) -> Iterator[Document]:
        """The documents of a complete chunk with the entities found."""
        entities: list[list[Entity]] = [[] for _ in self.documents]
        for positions, batch in zip(self.plan, self.found, strict=True):
            places = [(self.owners[position], window) for position in positions for window in self.passages[position]]
            for (owner, window), in_window in zip(places, batch, strict=True):
                owned = [found for found in in_window if window.owns(found.ranges[0][0])]
                entities[owner] += [_entity(found, window, scale) for found in owned]
        for document, own in zip(self.documents, entities, strict=True):
            numbered = (
                Entity(entity.label, entity.fragments, f"T{number}", entity.score)
                for number, entity in enumerate(sorted(own, key=_position), 1)
            )
            yield document.replace(entities=tuple(numbered))


def chunk_documents(documents: Iterable[Document], most: int) -> Iterator[list[Document]]:
    """Documents to be processed together, limited in number and length."""
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


class Chunker:
    """Cuts segmented documents into batches that a runtime can bear.

    window_cost: cells that the head makes of a window, by its words.
    """

    def __init__(self, windower: Windower, reader: Reader, runtime: Runtime, window_cost: Callable[[int], int]) -> None:
        self._windower, self._reader, self._runtime = windower, reader, runtime
        self._window_cost = window_cost

    def __call__(self, segmented: list[Document]) -> Chunk:
        owners: list[int] = []
        passages: list[list[Window]] = []
        for number, document in enumerate(segmented):
            own = self._windower.passages(document)
            owners += [number] * len(own)
            passages += own
        sizes = [sum(max(len(window), len(window.subwords.ids)) for window in passage) for passage in passages]
        together = cheapest_batches(sizes, self._runtime.batch_subwords, self._runtime.batch_overhead)
        plan = [part for batch in together for part in self._affordable(batch, passages)]
        batches = [
            word_arrays([passages[position] for position in batch], self._reader, multiple=self._runtime.size_multiple)
            for batch in plan
        ]
        return Chunk(segmented, owners, passages, plan, batches)

    def _affordable(self, batch: list[int], passages: list[list[Window]]) -> Iterator[list[int]]:
        """A batch in parts, so that padded windows do not exceed the head's memory limit.

        Passages have similar sizes, but their windows may not: one long sentence would pad hundreds of short ones.
        """
        part: list[int] = []
        n_windows = longest = 0
        for position in batch:
            own = passages[position]
            n_windows, longest = n_windows + len(own), max(longest, *map(len, own))
            if part and n_windows * self._window_cost(longest) > self._runtime.batch_cells:
                yield part
                part, n_windows, longest = [], len(own), max(map(len, own))
            part.append(position)
        yield part


def _entity(found: Found, window: Window, scale: ScoreScale) -> Entity:
    ranges = tuple((first + window.start, end + window.start) for first, end in found.ranges)
    return Entity(found.label, to_fragments(ranges, window.sentence), score=scale(found.score))


def _position(entity: Entity) -> tuple[object, ...]:
    return entity.start, entity.end, entity.label, entity.fragments
