"""Predict many files, one output for each, so that a run can be broken off and taken up again. No torch here."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Protocol

from disconer.errors import BadInput, DisconerError, Where
from disconer.formats import Format, format_named, read, sniff, write
from disconer.formats.source import Member, Source
from disconer.formats.target import path_within
from disconer.ledger import Ledger
from disconer.types import Document


class Annotator(Protocol):
    """What prediction needs of a `Recognizer`."""

    def annotate(self, documents: Iterable[Document]) -> Iterable[Document]: ...


@dataclass(frozen=True, slots=True)
class Unit:
    """An input that has an output of its own: a file, or what of a folder or archive belongs together.

    name: its path within what was given, without a suffix.
    """

    name: str
    source: Source
    format: Format

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


def wanted(document: Document, labels: Collection[str] | None, threshold: float) -> Document:
    """The document with those entities that have one of `labels` and at least a score of `threshold`."""
    kept = [
        entity
        for entity in document.entities
        if (labels is None or entity.label in labels) and (entity.score is None or entity.score >= threshold)
    ]
    return document if len(kept) == len(document.entities) else document.replace(entities=tuple(kept))


def all_documents(inputs: Iterable[Unit], ledger: Ledger) -> Iterator[Document]:
    """The documents of all units, no two of which may have the same id."""
    origins: dict[str, Unit] = {}
    for unit in inputs:
        for document in unit.documents(ledger):
            first = origins.setdefault(document.id, unit)
            if first is unit:
                yield document
            else:
                ledger.fault(_same_id(document.id, first, unit))


def _same_id(id: str, first: Unit, second: Unit) -> BadInput:
    return BadInput(
        "duplicate-id",
        "Two documents have the same id",
        where=Where(str(second.source.path), document=id),
        got=f"another one in {first.source.path}",
        fix="Predict them one after the other, into two outputs.",
    )


@dataclass(slots=True)
class Folder:
    """A folder of outputs. What is in it already counts as done, unless `force`.

    done, written: how many outputs were there before, and how many have come.
    """

    path: Path
    format: Format
    ledger: Ledger
    force: bool = False
    done: int = 0
    written: int = 0

    def fill(self, inputs: Iterable[Unit], annotator: Annotator) -> Iterator[str]:
        """Predict what is not there yet, and name each output when it is complete."""
        if self.format.writes_folder:
            yield from self._document_by_document(all_documents(inputs, self.ledger), annotator)
        else:
            yield from self._unit_by_unit(self._distinct(inputs), annotator)

    def _document_by_document(self, documents: Iterable[Document], annotator: Annotator) -> Iterator[str]:
        """For formats in which an output is a document, whatever file it came in."""
        for document in annotator.annotate(filter(self._is_document_left, documents)):
            self._add(document)
            yield document.id

    def _is_document_left(self, document: Document) -> bool:
        try:
            return self._is_left(self._last_file(document))
        except BadInput as error:  # an id that cannot be a file name
            self.ledger.fault(error)
            return False

    def _last_file(self, document: Document) -> Path:
        return path_within(self.path, document.id, self.format.suffixes[0])

    def _add(self, document: Document) -> None:
        """Write a document's files beside those that are there; that by which it counts as done comes last."""
        last = self._last_file(document)
        with tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=self.path) as staging:
            write([document], Path(staging) / "new", self.format.name, self.ledger)
            files = [path for path in (Path(staging) / "new").rglob("*") if path.is_file()]
            for path in sorted(files, key=lambda path: path.suffix == last.suffix):
                os.replace(path, last.parent / path.name)
            self.written += bool(files)

    def _unit_by_unit(self, inputs: Iterable[Unit], annotator: Annotator) -> Iterator[str]:
        """For formats in which an output is a file, as the input was."""
        waiting: deque[Unit] = deque()

        def texts() -> Iterator[Document]:
            for unit in inputs:
                if self._is_left(self._file(unit)):
                    for document in unit.documents(self.ledger):
                        waiting.append(unit)
                        yield document

        # Documents of many units go through the model together; what comes back is parted again by their order.
        found = annotator.annotate(texts())
        for unit, documents in groupby(found, key=lambda _: waiting.popleft()):
            write(documents, self._file(unit), self.format.name, self.ledger, force=True)
            self.written += 1
            yield unit.name

    def _file(self, unit: Unit) -> Path:
        return path_within(self.path, unit.name, self.format.suffixes[0])

    def _is_left(self, output: Path) -> bool:
        exists = output.exists() and not self.force
        self.done += exists
        return not exists

    def _distinct(self, inputs: Iterable[Unit]) -> Iterator[Unit]:
        origins: dict[str, Unit] = {}
        for unit in inputs:
            first = origins.setdefault(unit.name, unit)
            if first is not unit:
                raise DisconerError(
                    f"Two inputs would have the same output, {unit.name}{self.format.suffixes[0]}",
                    where=Where(str(unit.source.path)),
                    got=f"another {unit.name} in {first.source.path}",
                    fix="Predict them one after the other, into two folders.",
                )
            yield unit
