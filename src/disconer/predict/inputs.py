"""Inputs in units, each of which can have an output of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import Format, format_named, read, sniff
from disconer.formats.source import Member, Source


@dataclass(frozen=True, slots=True)
class Unit:
    """An input that has an output of its own: a file, or what of a folder or archive belongs together.

    name: its path within what was given, without a suffix.
    """

    name: str
    source: Source
    format: Format

    @property
    def size(self) -> int:
        """Its bytes as they are stored."""
        return sum(member.size for member in self.source)

    def documents(self, ledger: Ledger) -> Iterator[Document]:
        """Its documents, bare: what they say of entities is about those that were annotated, not of those to come."""
        for document in read(self.source, self.format.name, ledger):
            yield document.replace(entities=(), extras={})


def units(source: Source, from_format: str | None = None) -> Iterator[Unit]:
    """The units of a source, in the order of their names."""
    format = format_named(from_format) if from_format else sniff(source)
    if format.name == "brat":  # whose annotations do not matter here, nor whether each text has some
        format = format_named("text")
    members: dict[str, list[Member]] = {}
    for member in source:
        if source.is_single_file or member.suffix in format.suffixes:
            members.setdefault(member.stem, []).append(member)
    for name, own in members.items():
        yield Unit(name, source if source.is_single_file else source.only(own), format)
