"""One set of documents under annotation: read, changed, undone, done; every change is saved at once and recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from disconer.annotate.changes import Change, Key, Outdated, apply
from disconer.annotate.documents import Documents, Stored
from disconer.annotate.history import History, HistoryFile, Kind, Splice, Step
from disconer.core.errors import DisconerError
from disconer.core.files import append_line, file_stamp, locked

LONGEST_NAME = 150  # characters of a file name; file systems take 255 bytes


class Conflict(Exception):
    """The document has changed since the version that a change was made to. `stored`: what is on disk."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        super().__init__(stored.document.id)


@dataclass(frozen=True, slots=True)
class Opened:
    """A document with its history."""

    stored: Stored
    history: History
    removed_lines: int = 0  # about removed entities, by the last change

    @property
    def can_undo(self) -> bool:
        return self.history.undoable(self.stored.version) is not None

    @property
    def can_redo(self) -> bool:
        return self.history.redoable(self.stored.version) is not None


@dataclass(frozen=True, slots=True)
class Summary:
    """A line of the list of documents. n_entities: None if it cannot be read."""

    id: str
    n_entities: int | None
    done: bool


class Workspace:
    """Documents under annotation. Its methods may be called from many threads, and processes."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self._lock = threading.RLock()
        self._histories: dict[str, HistoryFile] = {}
        self._lock_file = documents.side / "lock"
        self._marks = _Marks(documents.side / "done.jsonl")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread or process changes the same documents meanwhile."""
        self._lock_file.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, locked(self._lock_file, wait=True):
            yield

    def summaries(self) -> list[Summary]:
        with self._lock:
            ids, done = self.documents.ids(), self._marks.load()
            return [Summary(id, self.documents.n_entities(id), done.get(id, False)) for id in ids]

    def unreadable(self) -> list[str]:
        """The ids of documents that cannot be read."""
        return [one.id for one in self.summaries() if one.n_entities is None]

    def open(self, id: str) -> Opened:
        with self._lock:
            stored = self.documents.read(id)
            return Opened(stored, self._history_file(id).load(stored.version))

    def is_done(self, id: str) -> bool:
        with self._lock:
            return self._marks.load().get(id, False)

    def mark(self, id: str, *, done: bool, by: str) -> None:
        """Mark a document as done, or not. One without annotations is then known to have none."""
        with self._alone():
            stored = self.documents.read(id)
            if done and not stored.content:
                self.documents.write(id, stored.content)
            self._marks.append(id, done=done, by=by)

    def change(self, id: str, version: str, change: Change, *, by: str, kind: Kind = "edit") -> Opened:
        """Save a change that was made to a version of a document."""
        with self._alone():
            stored = self._current(id, version)
            try:
                document = apply(stored.document, change)
            except Outdated:
                raise Conflict(stored) from None
            written = self.documents.written(document, stored)
            content = stored.content if document == stored.document else written.content
            step = (kind, by, change.reject, change.restore)
            saved = self._save(stored, content, *step)
            return Opened(saved.stored, saved.history, written.removed_lines)

    def undo(self, id: str, version: str, *, by: str) -> Opened:
        with self._alone():
            stored = self._current(id, version)
            step = self._history_file(id).load(version).undoable(version)
            if step is None:
                raise DisconerError("There is nothing to undo")
            content = step.splice.inverse.apply(stored.content)
            return self._save(stored, content, "undo", by, step.restore, step.reject)

    def redo(self, id: str, version: str, *, by: str) -> Opened:
        with self._alone():
            stored = self._current(id, version)
            step = self._history_file(id).load(version).redoable(version)
            if step is None:
                raise DisconerError("There is nothing to redo")
            return self._save(stored, step.splice.apply(stored.content), "redo", by, step.reject, step.restore)

    def _current(self, id: str, version: str) -> Stored:
        stored = self.documents.read(id)
        if stored.version != version:
            raise Conflict(stored)
        return stored

    def _save(
        self, stored: Stored, content: str, kind: Kind, by: str, reject: Sequence[Key], restore: Sequence[Key]
    ) -> Opened:
        """Record a step, then write it: see `history`."""
        id, file = stored.document.id, self._history_file(stored.document.id)
        file.load(stored.version)
        after = self.documents.version_with(id, content) if content != stored.content else stored.version
        splice = Splice.between(stored.content, content)
        file.append(Step(kind, _now(), by, stored.version, after, splice, reject=tuple(reject), restore=tuple(restore)))
        if after != stored.version:
            self.documents.write(id, content)
        return self.open(id)

    def _history_file(self, id: str) -> HistoryFile:
        if id not in self._histories:
            self._histories[id] = HistoryFile(self.documents.side / "history" / f"{_file_name(id)}.jsonl")
        return self._histories[id]


def _file_name(id: str) -> str:
    """A file name for a document's id, whatever characters it has."""
    name = quote(id, safe=" ")
    if len(name) > LONGEST_NAME or name.startswith("."):
        digest = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{name[:LONGEST_NAME].lstrip('.')}-{digest}"
    return name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class _Marks:
    """The file that says which documents are done. It is only ever appended to, also by other processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: dict[str, bool] = {}
        self._seen: tuple[int, int, int] | None = None

    def load(self) -> dict[str, bool]:
        """Whether each document that was ever marked is done."""
        stamp = file_stamp(self._path)
        if stamp != self._seen:
            self._done, self._seen = _read_done(self._path) if stamp else {}, stamp
        return self._done

    def append(self, id: str, *, done: bool, by: str) -> None:
        append_line(self._path, json.dumps({"id": id, "done": done, "at": _now(), "by": by}).encode("ascii"))


def _read_done(path: Path) -> dict[str, bool]:
    """A line that was cut off is skipped, even if only its line end is missing: the next mark takes its place."""
    done: dict[str, bool] = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            record = json.loads(line)
            done[record["id"]] = record["done"]
        except ValueError:
            continue
    return done
