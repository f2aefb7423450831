"""The base of configuration sections, and types of their fields. Custom heads use them for their settings, too."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]
Rate = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Sizes = Annotated[tuple[Count, ...], Field(strict=False)]  # not strict: YAML has lists, no tuples


class Section(BaseModel):
    """A section of the configuration: immutable, strictly typed, unknown keys forbidden."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class HeadSettings(Section):
    """The base of the section `head`. Each kind of head derives its own from it:

    class MySettings(HeadSettings):
        kind: Literal["mine"] = "mine"
        hidden: Count = Field(default=100, description="Hidden units.")

    Every field has a default and a description, which are shown in configuration files and in the reference.
    """

    kind: str
