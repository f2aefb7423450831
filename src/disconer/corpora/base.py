"""What a benchmark corpus is to disconer: a recipe from its official distribution to the literature's splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from disconer.ledger import Ledger
from disconer.types import Corpus

# build(source, options, ledger): `source` is what the user downloaded, `options` has a value for every option.
Build = Callable[[Path, Mapping[str, str], Ledger], Corpus]


@dataclass(frozen=True, slots=True)
class Option:
    """A choice that a recipe offers, its first value being the literature's."""

    name: str
    values: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one corpus is prepared.

    name: how people choose it (`disconer prepare genia …`).
    about: one line: what it is, its licence, where it comes from.
    source: what SOURCE has to be, in words, for help and error messages.
    counts_sentences: Table 1 of the paper counts sentences for this corpus, not documents.
    """

    name: str
    about: str
    source: str
    build: Build
    options: tuple[Option, ...] = field(default=())
    counts_sentences: bool = False


def split_ids(corpus: str, split: str) -> tuple[str, ...]:
    """The document ids of one split as the literature has it, shipped in `splits/`."""
    text = files("disconer.corpora").joinpath("splits", f"{corpus}.{split}.ids").read_text("utf-8")
    return tuple(text.split())
