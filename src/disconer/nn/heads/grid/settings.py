"""Settings of the grid head."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from disconer.config.section import Count, Fraction, HeadSettings, Rate, Sizes

Decoding = Literal["envelopes", "paths"]


class GridSettings(HeadSettings):
    """The grid head: every pair of words is scored, in view of the pairs around it."""

    kind: Literal["grid"] = "grid"
    decoding: Decoding = Field(
        default="envelopes",
        description="How entities are read: envelopes (first and last word, then fragments) or paths (as in W2NER).",
    )
    reach: Count | None = Field(
        default=48,
        description="Maximum words from the first to the last of an entity; wider ones are missed. null: no limit.",
    )
    channels: Count = Field(default=48, description="Channels of the grid.")
    dilations: Sizes = Field(
        default=(1, 2, 3), description="Dilations of the successive convolutions over the grid; []: none."
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
