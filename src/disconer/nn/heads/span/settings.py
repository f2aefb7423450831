"""Settings of the span head."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from disconer.config.section import Count, HeadSettings, Rate, Section, Share, Sizes, Weight


class ScorerSettings(Section):
    """The classifier of spans: fragment or not, and its labels."""

    hidden: Sizes = Field(default=(150,), description="Hidden units of each layer, first to last; []: none.")
    dropout: Share = Field(default=0.4, description="Dropout of the hidden units.")


class RelationSettings(Section):
    """The classifier of relations between two fragments."""

    enabled: bool = Field(default=True, description="Score pairs of fragments; without it nothing is discontinuous.")
    overlapping: bool = Field(
        default=True, description="Learn also which fragments share text, as a further training signal."
    )
    hidden: Sizes = Field(default=(150,), description="Hidden units of each layer, first to last; []: none.")
    dropout: Share = Field(default=0.4, description="Dropout of the hidden units.")


class SpanSettings(HeadSettings):
    """The span model: spans, fragments, relations between them, entities."""

    kind: Literal["span"] = "span"
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
