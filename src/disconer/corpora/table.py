"""The paper's Table 1 line of a corpus: how much there is in each split, and of which shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass

from disconer.core.overlap import sharing_text
from disconer.core.types import Document, Kind
from disconer.text.alignment import CROSSES, INSIDE, align

LEGEND = (
    "Kinds exclude each other: an entity with several fragments is discontinuous, whatever it overlaps. "
    "The paper does not say how it counts; 'sharing text' counts every entity that overlaps another, "
    "the discontinuous ones too."
)


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """What one split holds. Entities that cross sentences or cut tokens are counted among the rest, too."""

    documents: int
    sentences: int
    entities: int
    regular: int
    overlapped: int
    discontinuous: int
    sharing_text: int
    crossing_sentences: int
    cutting_tokens: int

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


def count(documents: Iterable[Document]) -> SplitCounts:
    """The counts of one split, whose documents have sentences."""
    totals: Counter[str] = Counter()
    for document in documents:
        totals["documents"] += 1
        totals["sentences"] += len(document.sentences or ())
        totals["sharing text"] += sum(sharing_text([entity.key for entity in document.entities]))
        for entity in document.entities:
            totals[str(entity.kind)] += 1
        for unaligned in align(document)[1]:
            totals[unaligned.reason] += 1
    return SplitCounts(
        documents=totals["documents"],
        sentences=totals["sentences"],
        entities=sum(totals[kind] for kind in Kind),
        regular=totals[Kind.REGULAR],
        overlapped=totals[Kind.OVERLAPPED],
        discontinuous=totals[Kind.DISCONTINUOUS],
        sharing_text=totals["sharing text"],
        crossing_sentences=totals[CROSSES],
        cutting_tokens=totals[INSIDE],
    )


def render(name: str, splits: Mapping[str, SplitCounts]) -> str:
    """The table as text, one column a split, and what its lines mean."""
    rows = [(name, list(splits)), *_rows(list(splits.values()))]
    label_width = max(len(label) for label, _ in rows)
    cell_width = max(len(cell) for _, cells in rows for cell in cells) + 2
    lines = [label.ljust(label_width) + "".join(cell.rjust(cell_width) for cell in cells) for label, cells in rows]
    return "\n".join([*(line.rstrip() for line in lines), LEGEND])


def _rows(splits: list[SplitCounts]) -> Iterator[tuple[str, list[str]]]:
    yield "documents", [f"{split.documents:,}" for split in splits]
    yield "sentences", [f"{split.sentences:,}" for split in splits]
    yield "entities", [f"{split.entities:,}" for split in splits]
    yield "% overlapped", [_percent(split.overlapped, split) for split in splits]
    yield "% discontinuous", [_percent(split.discontinuous, split) for split in splits]
    yield "% sharing text", [_percent(split.sharing_text, split) for split in splits]
    if any(split.crossing_sentences for split in splits):
        yield "crossing sentences", [f"{split.crossing_sentences:,}" for split in splits]
    if any(split.cutting_tokens for split in splits):
        yield "cutting tokens", [f"{split.cutting_tokens:,}" for split in splits]


def _percent(part: int, split: SplitCounts) -> str:
    return f"{100 * part / split.entities:.1f}" if split.entities else "-"
