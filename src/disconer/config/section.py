"""What sections of the configuration are made of. A head of your own takes these for its settings, too."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]
Rate = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Sizes = Annotated[tuple[Count, ...], Field(strict=False)]  # not strict: YAML has lists, no tuples


class Section(BaseModel):
    """A part of the configuration: immutable, no keys but its own, no types but those declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class HeadSettings(Section):
    """The section `head`, as far as all kinds of heads have it. Each kind derives its own from this one:

    class MySettings(HeadSettings):
        kind: Literal["mine"] = "mine"
        hidden: Count = Field(default=100, description="Hidden units.")

    Every field has a default and a description, which are shown in configuration files and in the reference.
    """

    kind: str
