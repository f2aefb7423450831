"""What the span head can be told."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from disconer.config.section import Count, HeadSettings, Rate, Section, Share, Sizes, Weight


class ScorerSettings(Section):
    """The network that tells whether a span is a fragment, and of what."""

    hidden: Sizes = Field(default=(150,), description="Hidden units of each layer, first to last; []: none.")
    dropout: Share = Field(default=0.4, description="Dropout of the hidden units.")


class RelationSettings(Section):
    """The network that tells how two fragments relate."""

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
        default=8, description="Words of the widest fragment looked for; wider ones are missed. null: no limit."
    )
    width_size: Count = Field(default=20, description="Size of the embedding of a span's width.")
    fragments: ScorerSettings = Field(
        default=ScorerSettings(), description="The network that tells whether a span is a fragment, and of what."
    )
    labels: Literal["one", "many"] = Field(
        default="one",
        description="Labels per span: one (as in the paper) or many (multilabel, each by its own threshold).",
    )
    relations: RelationSettings = Field(
        default=RelationSettings(), description="The network that tells how two fragments relate."
    )
    alpha: Rate = Field(default=1.0, description="Weight of the fragments in the loss.")
    beta: Weight = Field(default=1.0, description="Weight of the relations in the loss.")

    @property
    def multilabel(self) -> bool:
        return self.labels == "many"
