"""The settings of the grid head, and what the rest of disconer needs to know about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from disconer.config.section import Count, Fraction, HeadSettings, Rate, Sizes
from disconer.core.errors import DisconerError
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.heads.grid.graph_reader import PAIR_GRAPH, GridReader
from disconer.nn.heads.grid.reading import AFTER_LABELS, Decoding, Likely, read_likely
from disconer.nn.heads.grid.targets import grid_reach
from disconer.nn.heads.kind import HeadGraphs, HeadKind, Proposal, RunGraph, near_threshold
from disconer.nn.windows import Found
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.grid.head import GridHead


class GridSettings(HeadSettings):
    """The grid head: every pair of words is scored, in the context of neighbouring pairs."""

    kind: Literal["grid"] = "grid"
    decoding: Decoding = Field(
        default="envelopes",
        description="How entities are decoded: envelopes (first and last word, then fragments) or paths (as in W2NER).",
    )
    reach: Count | None = Field(
        default=48,
        description="Maximum words from the first to the last of an entity; wider ones are missed. null: no limit.",
    )
    channels: Count = Field(default=48, description="Channels of the grid.")
    dilations: Sizes = Field(
        default=(1, 2, 3),
        max_length=32,
        description="Dilations of the successive convolutions over the grid; []: none.",
    )
    biaffine: Count = Field(default=128, description="Size of the vectors of the biaffine product.")
    hidden: Count = Field(default=96, description="Hidden units between the convolutions and the scores.")
    dropout: Fraction = Field(default=0.3, description="Dropout in the grid.")
    gap_weight: Rate = Field(
        default=3.0, description="Weight of discontinuous entities in the loss: of their cells, and of links over gaps."
    )
    threshold: Fraction = Field(
        default=0.5, description="Minimum probability of an entity: the product over its parts."
    )


COVERED = 0.999  # fraction of the entities that the reach must cover
NARROWEST = 16  # a small sample must not bind a model more tightly
NUMBERS_PER_CELL = 256  # `HeadKind.cells` counts hundreds of numbers


class GridKind(HeadKind[GridSettings]):
    """See `HeadKind`."""

    name = "grid"
    about = (
        "it scores each pair of words, in the context of neighbouring pairs, as the first and last word of an entity"
    )
    settings = GridSettings
    variants = (
        *(f"reach={reach}" for reach in (8, 16, 24, 32, 48)),
        "reach=null",
        "decoding=paths",
    )

    def build(self, settings: GridSettings, labels: Sequence[str], *, word_size: int) -> GridHead:
        from disconer.nn.heads.grid.head import GridHead
        from disconer.nn.heads.grid.pair_grid import PairGrid

        grid = PairGrid(
            word_size=word_size,
            channels=settings.channels,
            dilations=settings.dilations,
            biaffine=settings.biaffine,
            hidden=settings.hidden,
            n_scores=len(labels) + AFTER_LABELS,
            dropout=settings.dropout,
        )
        return GridHead(
            labels=labels,
            grid=grid,
            reach=settings.reach,
            gap_weight=settings.gap_weight,
            threshold=settings.threshold,
            decoding=settings.decoding,
        )

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: GridSettings) -> Reach:
        return grid_reach(entities, settings.reach, settings.decoding)

    def cells(self, n_words: int, settings: GridSettings, labels: Sequence[str]) -> int:
        in_grid = n_words * min(settings.reach or n_words, n_words)
        biaffine = n_words**2 * (len(labels) + AFTER_LABELS)  # scores of all pairs, whatever the reach
        return max(in_grid, biaffine // NUMBERS_PER_CELL)  # the larger: with few labels, only the grid counts

    def scores_labels_apart(self, settings: GridSettings) -> bool:
        return True

    def propose(self, survey: Survey, settings: GridSettings) -> Proposal[GridSettings]:
        widths = sorted(
            entity.ranges[-1][1] - entity.ranges[0][0] for sentence in survey.sentences for entity in sentence.entities
        )
        reach = max(NARROWEST, widths[min(len(widths) - 1, int(COVERED * len(widths)))]) if widths else NARROWEST
        covered = sum(width <= reach for width in widths) / max(1, len(widths))
        finding = f"Entities of up to {reach} words from first to last: {covered:.1%} of them."
        return Proposal(settings.model_copy(update={"reach": reach}), [finding])

    def limits(self, settings: GridSettings, labels: Sequence[str]) -> Iterator[str]:
        if settings.reach is not None:
            yield f"None has more than {settings.reach} words from its first to its last."
        if settings.decoding == "envelopes":
            yield "A discontinuous one that is a part of another of its label is left out, unless its score is higher."

    def graphs(self, head: GridHead) -> HeadGraphs:
        from disconer.nn.heads.grid.pair_graph import grid_graphs

        return grid_graphs(head)

    def reader(self, settings: GridSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> GridReader:
        if PAIR_GRAPH not in graphs:
            raise DisconerError(
                "The graphs of this model are those of an earlier version of disconer",
                fix="Write them again: `disconer export MODEL OUT --compact`.",
            )
        return GridReader(
            labels,
            graph=graphs[PAIR_GRAPH],
            reach=settings.reach,
            dilations=settings.dilations,
            threshold=settings.threshold,
            decoding=settings.decoding,
        )

    def near_reader(
        self, settings: GridSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]
    ) -> GridReader:
        lower = settings.model_copy(update={"threshold": near_threshold(settings.threshold)})
        return self.reader(lower, labels, graphs=graphs)

    def fetched_reader(
        self, settings: GridSettings, labels: Sequence[str], *, near: bool = False
    ) -> Callable[[Likely], list[list[Found]]]:
        threshold = near_threshold(settings.threshold) if near else settings.threshold
        return partial(read_likely, labels=labels, threshold=threshold, decoding=settings.decoding)


GRID = GridKind()
