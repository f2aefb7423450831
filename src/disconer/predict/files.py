"""Predict many files, one output for each, so that an interrupted run can be continued. No torch here."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import Format, write
from disconer.formats.target import path_within
from disconer.predict.inputs import WHOLE, Share, Unit, by_block, placed_documents, units_by_block
from disconer.predict.settings import Annotator


def all_documents(inputs: Sequence[Unit], ledger: Ledger) -> Iterator[Document]:
    """The documents of all units; ids must be unique."""
    return (document for _, document in placed_documents(inputs, ledger))


def annotated(inputs: Sequence[Unit], annotator: Annotator, ledger: Ledger) -> Iterator[Document]:
    """The documents of all units with predicted entities, identical to the result of several processes."""
    yield from annotator.annotate_blocks(list(own) for _, own in by_block(placed_documents(inputs, ledger)))


@dataclass(slots=True)
class Folder:
    """A folder of outputs. Existing outputs count as done, unless `force`.

    is_current: whether an existing output was made with the settings of this run; see `FolderRecord`.
    done, written: the number of existing and of new outputs.
    see: called with the id of each document that has its own output, done or not.
    """

    path: Path
    format: Format
    ledger: Ledger
    force: bool = False
    done: int = 0
    written: int = 0
    see: Callable[[str], None] = lambda id: None
    is_current: Callable[[Path], bool] = lambda output: True

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
                output = self._file(unit)
                if output.exists():
                    self.is_current(output)

    def older_than_input(self, inputs: Sequence[Unit]) -> Iterator[str]:
        """Outputs whose input was changed after they were written, where their names are known without reading."""
        for unit in inputs:
            if not self.format.writes_folder or unit.format.name == "text":
                output = self._file(unit)
                if output.exists() and output.stat().st_mtime < unit.changed:
                    yield str(output.relative_to(self.path))

    def written_before(self, document: Document) -> Iterator[str]:
        """The output of a document with this id, perhaps of another text; of unknown origin, it is refused."""
        output = self._last_file(document)
        if output.exists() and (self.force or self.is_current(output)):
            yield str(output.relative_to(self.path))

    def is_left(self, inputs: Sequence[Unit]) -> bool:
        """Whether an output is missing; counts those that are not, up to the first that is."""
        if self.format.writes_folder:
            return any(map(self._is_document_left, all_documents(inputs, self.ledger)))
        return any(self._is_left(self._file(unit)) for unit in self._distinct(inputs))

    def fill_with(self, documents: Iterable[Document], annotator: Annotator) -> Iterator[str]:
        """Predict the missing outputs of documents, each with its own output, whatever the format."""
        for document in annotator.annotate(filter(self._is_document_left, documents)):
            if self.format.writes_folder:
                self._write(document)
            else:
                write([document], self._last_file(document), self.format.name, self.ledger, force=True)
                self.written += 1
            yield f"{document.id}{self.format.suffixes[0]}"

    def _is_document_left(self, document: Document) -> bool:
        try:
            output = self._last_file(document)
        except BadInput as error:  # an id that is not a valid file name
            self.ledger.error(error)
            return False
        self.see(document.id)
        return self._is_left(output)

    def _last_file(self, document: Document) -> Path:
        return path_within(self.path, document.id, self.format.suffixes[0])

    def _write(self, document: Document) -> None:
        """Write a document's files; the one that marks it as done is written last."""
        last = self._last_file(document)
        with tempfile.TemporaryDirectory(prefix=".", suffix=".part", dir=self.path) as staging:
            write([document], Path(staging) / "new", self.format.name, self.ledger)
            files = [path for path in (Path(staging) / "new").rglob("*") if path.is_file()]
            for path in sorted(files, key=lambda path: path.suffix == last.suffix):
                os.replace(path, last.parent / path.name)
            self.written += bool(files)

    def _unit_by_unit(self, inputs: Iterable[Unit], annotator: Annotator) -> Iterator[str]:
        """For formats with one output per input file."""
        waiting: deque[Unit] = deque()
        empty: list[Unit] = []

        def texts() -> Iterator[Document]:
            for unit in inputs:
                if self._is_left(self._file(unit)):
                    n_errors, has_some = self.ledger.errors.total(), False
                    for document in unit.documents(self.ledger):
                        waiting.append(unit)
                        yield document
                        has_some = True
                    if not has_some and self.ledger.errors.total() == n_errors:
                        empty.append(unit)

        # Documents of many units go through the model together; results are assigned to units by order.
        found = annotator.annotate(texts())
        for unit, documents in groupby(found, key=lambda _: waiting.popleft()):
            yield self._write_unit(unit, documents)
        for unit in empty:  # these are done, too: without an output, they would be left each time
            yield self._write_unit(unit, ())

    def _write_unit(self, unit: Unit, documents: Iterable[Document]) -> str:
        write(documents, self._file(unit), self.format.name, self.ledger, force=True)
        self.written += 1
        return f"{unit.name}{self.format.suffixes[0]}"

    def _file(self, unit: Unit) -> Path:
        return path_within(self.path, unit.name, self.format.suffixes[0])

    def _is_left(self, output: Path) -> bool:
        exists = not self.force and output.exists() and self.is_current(output)
        self.done += exists
        return not exists

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
