"""The base of configuration sections, types of their fields, and how the section `head` gets its settings.

Heads are in `nn`, above this package: they are known here by name only, and imported when one is used. The section
`head` has the settings of the kind that it names. Custom heads use the same types for theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails

from disconer.core.plugins import Registry

Count = Annotated[int, Field(ge=1)]
Fraction = Annotated[float, Field(ge=0, lt=1)]
Rate = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Labels = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False, min_length=1)]
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


class Configurable(Protocol):
    """What the configuration needs from a kind of head; see `disconer.nn.heads.kind.HeadKind`."""

    @property
    def settings(self) -> type[HeadSettings]: ...


DEFAULT_HEAD = "grid"
HEADS: Registry[Configurable] = Registry(
    "disconer.heads",
    {
        "grid": "disconer.nn.heads.grid:GRID",
        "hypergraph": "disconer.nn.heads.hypergraph:HYPERGRAPH",
        "span": "disconer.nn.heads.span:SPAN",
        "tagger": "disconer.nn.heads.tagger:TAGGER",
        "transition": "disconer.nn.heads.transition:TRANSITION",
        "sequence": "disconer.nn.heads.sequence:SEQUENCE",
        "combined": "disconer.nn.heads.combined:COMBINED",
    },
    what="kind of head",
)


def head_settings(section: Any) -> HeadSettings:
    """The validated settings of a section `head`; without a kind, those of the default one."""
    if isinstance(section, HeadSettings):
        return section
    if not isinstance(section, Mapping):
        raise _error("dict_type", (), section)
    kind = section.get("kind", DEFAULT_HEAD)
    if not isinstance(kind, str) or kind not in HEADS:
        raise _error("literal_error", ("kind",), kind, expected=in_words(HEADS.names()))
    return HEADS.get(kind).settings.model_validate(dict(section))


def default_head() -> HeadSettings:
    return head_settings({})


def kind_in(values: Any) -> str:
    """The kind of head in the values of a configuration; the default if there is none or it does not exist."""
    section = values.get("head") if isinstance(values, Mapping) else None
    kind = section.get("kind") if isinstance(section, Mapping) else None
    return kind if isinstance(kind, str) and kind in HEADS else DEFAULT_HEAD


def in_words(names: tuple[str, ...]) -> str:
    """
    >>> in_words(("span", "tagger", "grid"))
    'span, tagger or grid'
    """
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _error(kind: str, place: tuple[str, ...], value: Any, **context: str) -> ValidationError:
    details = InitErrorDetails(type=kind, loc=place, input=value, ctx=context)
    return ValidationError.from_exception_data("head", [details])
