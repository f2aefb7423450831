"""Settings of the tagger."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from disconer.config.section import HeadSettings, Share, Sizes


class TaggerSettings(HeadSettings):
    """The tagger: one tag per word, by a linear-chain CRF."""

    kind: Literal["tagger"] = "tagger"
    scheme: Literal["BIO", "BIOHD", "BIOHD1234"] = Field(
        default="BIOHD1234",
        description="Tags: BIO (no discontinuous or overlapped entities), BIOHD or BIOHD1234 (Tang et al. 2013, 2015).",
    )
    hidden: Sizes = Field(
        default=(150,), description="Hidden units of each layer between word vectors and tags; []: none."
    )
    dropout: Share = Field(default=0.4, description="Dropout of the hidden units.")
