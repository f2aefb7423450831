"""The settings of the span head, and what the rest of disconer needs to know about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field

from disconer.config.section import Count, Fraction, HeadSettings, Rate, Section, Sizes, Weight
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.heads.kind import HeadGraphs, HeadKind, Proposal, RunGraph
from disconer.nn.heads.span.reading import PAIRS, SpanReader
from disconer.nn.heads.span.targets import span_reach
from disconer.text.alignment import Range, TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.span.head import SpanHead


class ScorerSettings(Section):
    """The classifier of spans: fragment or not, and its labels."""

    hidden: Sizes = Field(default=(150,), description="Hidden units of each layer, first to last; []: none.")
    dropout: Fraction = Field(default=0.4, description="Dropout of the hidden units.")


class RelationSettings(Section):
    """The classifier of relations between two fragments."""

    enabled: bool = Field(default=True, description="Score pairs of fragments; without it nothing is discontinuous.")
    overlapping: bool = Field(
        default=True, description="Also learn which fragments overlap, as an additional training signal."
    )
    hidden: Sizes = Field(default=(150,), description="Hidden units of each layer, first to last; []: none.")
    dropout: Fraction = Field(default=0.4, description="Dropout of the hidden units.")


class SpanSection(Section):
    """Spans, fragments, relations between them. Other heads may have it as a section of theirs."""

    max_width: Count | None = Field(
        default=8, description="Maximum words per fragment; wider ones are missed. null: no limit."
    )
    width_size: Count = Field(default=20, description="Size of the embedding of a span's width.")
    fragments: ScorerSettings = Field(
        default=ScorerSettings(), description="The classifier of spans: fragment or not, and its labels."
    )
    labels: Literal["one", "many"] = Field(
        default="one",
        description="Labels per span: one (as in the paper) or many (multilabel, each by its own threshold).",
    )
    relations: RelationSettings = Field(
        default=RelationSettings(), description="The classifier of relations between two fragments."
    )
    alpha: Rate = Field(default=1.0, description="Weight of the fragments in the loss.")
    beta: Weight = Field(default=1.0, description="Weight of the relations in the loss.")

    @property
    def multilabel(self) -> bool:
        return self.labels == "many"


class SpanSettings(SpanSection, HeadSettings):
    """The span model: spans, fragments, relations between them, entities."""

    kind: Literal["span"] = "span"


Spans = TypeVar("Spans", bound=SpanSection)

COVERED = 0.99  # fraction of the fragments that a width limit must cover
NARROWEST = 6  # the paper's smallest limit: a small sample must not restrict a model more
MULTILABEL = 0.01  # fraction of spans with two labels above which a model should be multilabel


def fitted_spans(survey: Survey, settings: Spans) -> tuple[Spans, list[str]]:
    """The smallest width limit that covers enough of the fragments, multilabel if the data is, and what was found."""
    widths, multilabel = _spans(survey)
    limit = width_limit(widths)
    labels = "many" if multilabel > MULTILABEL else "one"
    return settings.model_copy(update={"max_width": limit, "labels": labels}), [
        f"Spans up to {limit} words: {_covered(widths, limit):.1%} of the fragments.",
        f"Labels per span: {labels}; {multilabel:.1%} of the spans have more than one.",
    ]


def _spans(survey: Survey) -> tuple[Counter[int], float]:
    """The widths of all fragments in words, each span once, and the fraction of those with more than one label."""
    widths: Counter[int] = Counter()
    multilabel = 0
    for sentence in survey.sentences:
        labels: dict[Range, set[str]] = {}
        for entity in sentence.entities:
            for span in entity.ranges:
                labels.setdefault(span, set()).add(entity.label)
        widths.update(end - first for first, end in labels)
        multilabel += sum(len(own) > 1 for own in labels.values())
    return widths, multilabel / max(1, widths.total())


def width_limit(widths: Counter[int]) -> int:
    """The smallest width limit that covers enough of the fragments.

    >>> width_limit(Counter({1: 98, 9: 2})), width_limit(Counter({1: 99, 9: 1}))
    (9, 6)
    """
    width = next((width for width in sorted(widths) if _covered(widths, width) >= COVERED), NARROWEST)
    return max(width, NARROWEST)


def _covered(widths: Counter[int], limit: int) -> float:
    total = widths.total()
    return sum(count for width, count in widths.items() if width <= limit) / total if total else 1.0


UNLIMITED_WIDTHS = 64  # rows of the width table when spans have no limit: wider ones share the last


def build_span(settings: SpanSection, labels: Sequence[str], *, word_size: int) -> SpanHead:
    from disconer.nn.heads.span.head import SpanHead
    from disconer.nn.heads.span.scorers import FragmentScorer, RelationScorer, WidthEmbedding
    from disconer.nn.heads.span.targets import Relation

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


def span_cells(n_words: int, settings: SpanSection) -> int:
    """See `HeadKind.cells`."""
    return n_words * min(settings.max_width or n_words, n_words)


class SpanKind(HeadKind[SpanSettings]):
    """See `HeadKind`."""

    name = "span"
    about = (
        "it classifies spans, then pairs of them; entities are the maximal cliques of fragments that belong together"
    )
    settings = SpanSettings
    variants = (*(f"max_width={width}" for width in range(6, 17)), "max_width=null")

    def build(self, settings: SpanSettings, labels: Sequence[str], *, word_size: int) -> SpanHead:
        return build_span(settings, labels, word_size=word_size)

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: SpanSettings) -> Reach:
        return span_reach(entities, settings.max_width, relations=settings.relations.enabled)

    def cells(self, n_words: int, settings: SpanSettings, labels: Sequence[str]) -> int:
        return span_cells(n_words, settings)

    def propose(self, survey: Survey, settings: SpanSettings) -> Proposal[SpanSettings]:
        return Proposal(*fitted_spans(survey, settings))

    def limits(self, settings: SpanSettings, labels: Sequence[str]) -> Iterator[str]:
        if settings.max_width is not None:
            yield f"No fragment of them is wider than {settings.max_width} words."

    def graphs(self, head: SpanHead) -> HeadGraphs:
        from disconer.nn.heads.span.head import span_graphs

        return span_graphs(head)

    def reader(self, settings: SpanSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> SpanReader:
        return SpanReader(
            labels, max_width=settings.max_width, multilabel=settings.multilabel, pair_graph=graphs.get(PAIRS)
        )

    def near_reader(
        self, settings: SpanSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]
    ) -> SpanReader:
        return SpanReader(
            labels,
            max_width=settings.max_width,
            multilabel=settings.multilabel,
            pair_graph=graphs.get(PAIRS),
            near=True,
        )


SPAN = SpanKind()
