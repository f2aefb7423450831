"""The settings of the hypergraph head, and what the rest of disconer needs to know about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from disconer.config.section import Count, Fraction, HeadSettings, Rate
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.heads.hypergraph.paths import Edges, hypergraph_reach
from disconer.nn.heads.hypergraph.reading import TreeReader
from disconer.nn.heads.kind import NEAR, HeadGraphs, HeadKind, Proposal, RunGraph
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.hypergraph.head import HypergraphHead


class HypergraphSettings(HeadSettings):
    """The hypergraph head: for each word and label, a tree of the entities that start there (Wang and Lu 2018)."""

    kind: Literal["hypergraph"] = "hypergraph"
    reach: Count = Field(
        default=24, description="Maximum words from the first to the last of an entity; wider ones are missed."
    )
    max_fragments: Count = Field(
        default=3, description="Maximum fragments per entity; those with more are missed. 1: none is discontinuous."
    )
    memory: Count = Field(
        default=2, description="Nodes store the length of the first fragment modulo this number; 1: not at all."
    )
    hidden: Count = Field(default=150, description="Hidden units between pairs of words and the scores of edges.")
    dropout: Fraction = Field(default=0.3, description="Dropout of the hidden units.")
    gap_weight: Rate = Field(default=3.0, description="Weight in the loss of trees that have a discontinuous entity.")


COVERED = 0.999  # fraction of the entities that each limit must cover
NARROWEST, FEWEST = 16, 2  # words and fragments: a small sample must not bind a model more tightly
NUMBERS_PER_CELL = 256  # `HeadKind.cells` counts hundreds of numbers


class HypergraphKind(HeadKind[HypergraphSettings]):
    """See `HeadKind`."""

    name = "hypergraph"
    about = "for each word and label, the set of entities that start there is the best tree of a hypergraph"
    settings = HypergraphSettings
    variants = ("max_fragments=1", "max_fragments=2", "memory=1", *(f"reach={reach}" for reach in (8, 16, 24, 32, 48)))

    def build(self, settings: HypergraphSettings, labels: Sequence[str], *, word_size: int) -> HypergraphHead:
        from disconer.nn.heads.hypergraph.head import EdgeScorer, HypergraphHead

        edges = _edges(settings)
        scorer = EdgeScorer(
            word_size=word_size, hidden=settings.hidden, edges=edges, n_labels=len(labels), dropout=settings.dropout
        )
        return HypergraphHead(
            labels=labels, reach=settings.reach, edges=edges, scorer=scorer, gap_weight=settings.gap_weight
        )

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: HypergraphSettings) -> Reach:
        return hypergraph_reach((entity.key for entity in entities), settings.reach, _edges(settings))

    def cells(self, n_words: int, settings: HypergraphSettings, labels: Sequence[str]) -> int:
        numbers = 2 * settings.hidden + 2 * len(_edges(settings)) * len(labels)
        return n_words * min(settings.reach, n_words) * (1 + numbers // NUMBERS_PER_CELL)

    def scores_labels_apart(self, settings: HypergraphSettings) -> bool:
        return True

    def propose(self, survey: Survey, settings: HypergraphSettings) -> Proposal[HypergraphSettings]:
        ranges = [entity.ranges for sentence in survey.sentences for entity in sentence.entities]
        reach = _covering([one[-1][1] - one[0][0] for one in ranges], NARROWEST)
        fragments = _covering([len(one) for one in ranges], FEWEST)
        limited = settings.model_copy(update={"reach": reach, "max_fragments": fragments})
        lost = sum(len(self.reach(own, n_words, limited).lost) for n_words, own in survey.sentences)
        finding = f"Entities of up to {reach} words from first to last and {fragments} fragments"
        return Proposal(limited, [f"{finding}: {1 - lost / max(1, len(ranges)):.1%} of them."])

    def limits(self, settings: HypergraphSettings, labels: Sequence[str]) -> Iterator[str]:
        yield f"None has more than {settings.reach} words from its first to its last."
        yield f"None has more than {settings.max_fragments} fragments."

    def graphs(self, head: HypergraphHead) -> HeadGraphs:
        from disconer.nn.heads.hypergraph.head import hypergraph_graphs

        return hypergraph_graphs(head)

    def reader(
        self, settings: HypergraphSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]
    ) -> TreeReader:
        return TreeReader(labels, _edges(settings), reach=settings.reach)

    def near_reader(
        self, settings: HypergraphSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]
    ) -> TreeReader:
        return TreeReader(labels, _edges(settings), reach=settings.reach, near=NEAR)


def _edges(settings: HypergraphSettings) -> Edges:
    return Edges(settings.max_fragments, settings.memory)


def _covering(values: Sequence[int], least: int) -> int:
    """The smallest limit that covers enough of some values, but not less than `least`.

    >>> _covering([1] * 999 + [5], 2), _covering([1] * 99 + [5], 2)
    (2, 5)
    """
    needed = ceil(COVERED * len(values))
    return max([least, *sorted(values)[needed - 1 : needed]])


HYPERGRAPH = HypergraphKind()
