"""Predict many files, one output for each, so that an interrupted run can be continued. No torch here."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from itertools import groupby
from operator import add
from pathlib import Path

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.files import full_disk_reported
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import Format, write
from disconer.formats.target import path_within
from disconer.predict.inputs import WHOLE, Share, Unit, by_block, placed_documents, units_by_block
from disconer.predict.origins import Origins
from disconer.predict.settings import Annotator


def all_documents(inputs: Sequence[Unit], ledger: Ledger) -> Iterator[Document]:
    """The documents of all units; ids must be unique."""
    return (document for _, document in placed_documents(inputs, ledger))


def annotated(inputs: Sequence[Unit], annotator: Annotator, ledger: Ledger) -> Iterator[Document]:
    """The documents of all units with predicted entities, identical to the result of several processes."""
    yield from annotator.annotate_blocks(list(own) for _, own in by_block(placed_documents(inputs, ledger)))


@dataclass(slots=True)
class Filled:
    """What a run made of a folder.

    written: the number of new outputs, of which `replaced` are in place of one of another text or other settings.
    done: that of outputs that were kept. others: that of files that are no outputs of this run's inputs.
    """

    written: int = 0
    replaced: int = 0
    done: int = 0
    others: int = 0

    def __add__(self, other: Filled) -> Filled:
        return Filled(*map(add, astuple(self), astuple(other)))


@dataclass(slots=True)
class Folder:
    """A folder of outputs. An existing output of the same input, model and settings is done, unless `force`.

    see: called with the id of each document that has its own output, done or not.
    """

    origins: Origins
    format: Format
    ledger: Ledger
    force: bool = False
    filled: Filled = field(default_factory=Filled)
    see: Callable[[str], None] = lambda id: None

    @property
    def path(self) -> Path:
        return self.origins.folder

    def fill(self, inputs: Sequence[Unit], annotator: Annotator, share: Share = WHOLE) -> Iterator[str]:
        """Predict the missing outputs of a shard, and yield the name of each file when it is complete."""
        if self.format.writes_folder:
            for _, documents in by_block(placed_documents(inputs, self.ledger, share)):
                yield from self.fill_with(documents, annotator)
        else:
            for block in units_by_block(self._distinct(inputs), share):
                yield from self._unit_by_unit(block, annotator)

    def check(self, inputs: Sequence[Unit]) -> None:
        """Report outputs of unknown origin before any work, where names of outputs are known without reading."""
        for unit in inputs:
            if not self.force and (not self.format.writes_folder or unit.format.name == "text"):
                self._is_done(self._file(unit), "")

    def check_document(self, document: Document) -> None:
        """The same for a document."""
        self._is_done(self._last_file(document), "")

    def is_left(self, inputs: Sequence[Unit]) -> bool:
        """Whether an output is missing; counts those that are not, up to the first that is."""
        if self.format.writes_folder:
            return any(self._origin_left(document) for document in all_documents(inputs, self.ledger))
        return any(self._is_left(self._file(unit), self.origins.of_unit(unit)) for unit in self._distinct(inputs))

    def fill_with(self, documents: Iterable[Document], annotator: Annotator) -> Iterator[str]:
        """Predict the missing outputs of documents, each with its own output, whatever the format."""
        origins: deque[str] = deque()

        def left() -> Iterator[Document]:
            for document in documents:
                if origin := self._origin_left(document):
                    origins.append(origin)
                    yield document

        for document in annotator.annotate(left()):
            yield self._write_document(document, origins.popleft())

    def _origin_left(self, document: Document) -> str | None:
        """The origin of a document's output if that is missing."""
        try:
            output = self._last_file(document)
        except BadInput as error:  # an id that is not a valid file name
            self.ledger.error(error)
            return None
        self.see(document.id)
        origin = self.origins.of_document(document)
        return origin if self._is_left(output, origin) else None

    def _last_file(self, document: Document) -> Path:
        return path_within(self.path, document.id, self.format.suffixes[0])

    def _unit_by_unit(self, inputs: Iterable[Unit], annotator: Annotator) -> Iterator[str]:
        """For formats with one output per input file."""
        waiting: deque[_Started] = deque()
        empty: list[_Started] = []

        def texts() -> Iterator[Document]:
            for unit in inputs:
                one = _Started(unit, self.origins.of_unit(unit))  # before it is read: it may change meanwhile
                if self._is_left(self._file(unit), one.origin):
                    n_errors, has_some = self.ledger.errors.total(), False
                    for document in unit.documents(self.ledger):
                        waiting.append(one)
                        yield document
                        has_some = True
                    one.lacking = self.ledger.errors.total() > n_errors
                    if not has_some and not one.lacking:
                        empty.append(one)

        # Documents of many units go through the model together; results are assigned to units by order.
        found = annotator.annotate(texts())
        for one, documents in groupby(found, key=lambda _: waiting.popleft()):
            yield self._write_unit(one, documents)
        for one in empty:  # these are done, too: without an output, they would be left each time
            yield self._write_unit(one, ())

    def _write_unit(self, one: _Started, documents: Iterable[Document]) -> str:
        output = self._file(one.unit)
        with self._staged(output) as staging:
            write(documents, staging / output.name, self.format.name, self.ledger)
            self._place(staging, output, one.origin, lacking=one.lacking)  # known once its documents are written
        return f"{one.unit.name}{self.format.suffixes[0]}"

    def _write_document(self, document: Document, origin: str) -> str:
        output = self._last_file(document)
        with self._staged(output) as staging:
            name = "new" if self.format.writes_folder else output.name
            write([document], staging / name, self.format.name, self.ledger)
            self._place(staging, output, origin)
        return f"{document.id}{self.format.suffixes[0]}"

    @contextmanager
    def _staged(self, output: Path) -> Iterator[Path]:
        """A folder for the files of an output before they get their names."""
        staging = tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=self.path)
        with full_disk_reported(output), staging as folder:
            yield Path(folder)

    def _place(self, staging: Path, output: Path, origin: str, *, lacking: bool = False) -> None:
        """Put the files of an output in place; the one that marks it as done goes first of the old, last of the new."""
        files = [path for path in staging.rglob("*") if path.is_file()]
        if not files:  # it could not be written, which has been reported
            return
        self.filled.replaced += not self.force and output.exists()
        output.unlink(missing_ok=True)
        self.origins.record(output, origin, lacking=lacking)
        for path in sorted(files, key=lambda path: path.suffix == output.suffix):
            os.replace(path, output.parent / path.name)
        self.filled.written += 1

    def _file(self, unit: Unit) -> Path:
        return path_within(self.path, unit.name, self.format.suffixes[0])

    def _is_left(self, output: Path, origin: str) -> bool:
        done = self._is_done(output, origin)
        self.filled.done += done
        return not done

    def _is_done(self, output: Path, origin: str) -> bool:
        if self.force or not output.exists():
            return False
        return self.origins.is_current(output, origin, skip_bad=self.ledger.skip_bad)

    def _distinct(self, inputs: Iterable[Unit]) -> Iterator[Unit]:
        origins: dict[str, Unit] = {}
        for unit in inputs:
            first = origins.setdefault(unit.name, unit)
            if first is not unit:
                raise DisconerError(
                    f"Two inputs would have the same output, {unit.name}{self.format.suffixes[0]}",
                    where=Where(str(unit.source)),
                    got=f"another {unit.name} in {first.source}",
                    fix="Predict them separately, into two folders.",
                )
            yield unit


@dataclass(slots=True, eq=False)
class _Started:
    """A unit that is being predicted, its origin, and whether bad input in it was skipped."""

    unit: Unit
    origin: str
    lacking: bool = False
