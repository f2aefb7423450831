"""The span head as the rest of disconer knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from disconer.evaluate.ceiling import Reach
from disconer.evaluate.survey import Survey
from disconer.nn.heads.exported import HeadGraphs, RunGraph
from disconer.nn.heads.kind import HeadKind, Proposal
from disconer.nn.heads.span.oracle import span_reach
from disconer.nn.heads.span.proposal import propose_spans
from disconer.nn.heads.span.reading import PAIRS, SpanReader
from disconer.nn.heads.span.settings import SpanSettings
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.span.head import SpanHead

UNLIMITED_WIDTHS = 64  # rows of the width table when spans have no limit: wider ones share the last


class SpanKind(HeadKind[SpanSettings]):
    """See `HeadKind`."""

    name = "span"
    about = "it classifies spans, then pairs of them, and entities are the maximal cliques of what belongs together"
    settings = SpanSettings
    variants = (*(f"max_width={width}" for width in range(6, 17)), "max_width=null")

    def build(self, settings: SpanSettings, labels: Sequence[str], *, word_size: int) -> SpanHead:
        from disconer.nn.heads.span.head import SpanHead
        from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer, WidthEmbedding
        from disconer.nn.heads.span.target_tensors import Relation

        fragments = FragmentScorer(
            word_size=word_size,
            width_size=settings.width_size,
            hidden=settings.fragments.hidden,
            n_classes=len(labels) + 1,
            dropout=settings.fragments.dropout,
        )
        relations = RelationScorer(
            word_size=word_size,
            width_size=settings.width_size,
            hidden=settings.relations.hidden,
            n_classes=len(Relation),
            dropout=settings.relations.dropout,
        )
        return SpanHead(
            labels=labels,
            max_width=settings.max_width,
            widths=WidthEmbedding(max_width=settings.max_width or UNLIMITED_WIDTHS, size=settings.width_size),
            fragments=fragments,
            relations=relations if settings.relations.enabled else None,
            overlapping=settings.relations.overlapping,
            multilabel=settings.multilabel,
            alpha=settings.alpha,
            beta=settings.beta,
        )

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: SpanSettings) -> Reach:
        return span_reach(entities, settings.max_width, relations=settings.relations.enabled)

    def cells(self, n_words: int, settings: SpanSettings, labels: Sequence[str]) -> int:
        return n_words * min(settings.max_width or n_words, n_words)

    def propose(self, survey: Survey, settings: SpanSettings) -> Proposal[SpanSettings]:
        return propose_spans(survey, settings)

    def limits(self, settings: SpanSettings, labels: Sequence[str]) -> Iterator[str]:
        if settings.max_width is not None:
            yield f"No fragment of them is wider than {settings.max_width} words."

    def graphs(self, head: SpanHead) -> HeadGraphs:
        from disconer.nn.heads.span.graphs import span_graphs

        return span_graphs(head)

    def reader(self, settings: SpanSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> SpanReader:
        return SpanReader(
            labels, max_width=settings.max_width, multilabel=settings.multilabel, pair_graph=graphs.get(PAIRS)
        )


SPAN = SpanKind()
