"""Documents on disk that are edited one by one: a folder of brat files, or a file of native JSONL.

Files are written atomically, through a temporary file. A version is a hash of the files' content, so that a change by
any other program is noticed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.files import file_stamp, replace_file
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.brat.files import annotation_text, read_document
from disconer.formats.brat.lines import TEXT_BOUND, brat_label, parse_text_bound
from disconer.formats.jsonfiles import parse_json
from disconer.formats.native import from_record, to_record
from disconer.formats.source import Member, Source, decode

ANNOTATIONS, TEXT = ".ann", ".txt"
REMOVED_LINES = "brat lines about removed entities"


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it is on disk. content: the text of its annotations, exactly: a .ann file, or a line of JSONL."""

    document: Document
    content: str
    version: str


@dataclass(frozen=True, slots=True)
class Written:
    """The content of a document to be written, and the number of lines removed together with their entities."""

    content: str
    removed_lines: int = 0


class Documents(Protocol):
    """Documents by id."""

    side: Path  # a hidden folder for everything besides the annotations

    def ids(self) -> list[str]: ...
    def read(self, id: str) -> Stored: ...
    def version_with(self, id: str, content: str) -> str:
        """The version of a document with this content."""
        ...

    def write(self, id: str, content: str) -> None:
        """Replace the content of a document, whole or not at all."""
        ...

    def n_entities(self, id: str) -> int | None:
        """None if the document cannot be read."""
        ...

    def labels(self) -> list[str]:
        """The labels of all documents, frequent ones first."""
        ...

    def written(self, document: Document, stored: Stored) -> Written:
        """The content of a changed document; parts that disconer does not interpret stay as they are stored."""
        ...

    def label(self, label: str) -> str:
        """A label as the files can hold it."""
        ...


def open_documents(path: Path) -> Documents:
    """The documents of a folder of brat files, or texts alone, or of a JSONL file."""
    if path.is_dir():
        return BratFolder(path)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return JsonlFile(path)
    raise DisconerError(
        "Documents are annotated in a folder of .txt and .ann files, or in a .jsonl file",
        where=Where(str(path)),
        got=None if path.exists() else "a path that does not exist",
        fix="Convert it first: `disconer convert INPUT FOLDER`." if path.exists() else "Check the path.",
    )


def unknown_document(id: str, path: Path) -> DisconerError:
    return DisconerError("There is no such document", where=Where(str(path), document=id))


def _label_of(line: bytes) -> str:
    """The label of a T line; empty if it cannot be read."""
    bound = parse_text_bound(line.decode("utf-8", "replace").rstrip("\r\n"))
    return bound.label if bound else ""


def _item_key(item: Mapping[str, Any]) -> tuple[Any, ...]:
    """A key that is equal for two entities of JSONL if they are the same."""
    return item.get("id"), item["label"], tuple(tuple(pair) for pair in item["fragments"])


def _version(*parts: bytes | None) -> str:
    """A hash of files; a missing one differs from an empty one."""
    digest = sha256()
    for part in parts:
        digest.update(b"-" if part is None else b"%d:" % len(part) + part)
    return digest.hexdigest()[:16]


class BratFolder:
    """A folder of brat files. A text without a .ann gets one when it is first annotated."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.side = folder, folder / ".disconer"
        self._last: Stored | None = None  # an edit reads its document several times
        self._counts: dict[str, tuple[object, int | None]] = {}  # of entities, with the stamps of the files counted
        if not self.ids():
            raise DisconerError(
                "There are no texts in this folder",
                where=Where(str(folder)),
                expected=".txt files, with or without a .ann of the same name",
            )

    def ids(self) -> list[str]:
        members = list(Source(self.folder))
        if packed := next((one for one in members if one.suffix in (".a1", ".a2")), None):
            raise DisconerError(
                "Files .a1 and .a2 cannot be annotated",
                where=Where(packed.origin),
                fix="Convert the folder first: `disconer convert FOLDER NEW`.",
            )
        return [one.stem for one in members if one.origin.endswith(TEXT)]

    def read(self, id: str) -> Stored:
        text_file, annotation_file = self._member(id, TEXT), self._member(id, ANNOTATIONS)
        if not os.path.isfile(text_file.origin):
            raise unknown_document(id, self.folder)
        text = text_file.read()
        if not os.path.isfile(annotation_file.origin):
            return Stored(Document(id, decode(text, text_file.origin)), "", _version(text, None))
        content = annotation_file.read()
        version = _version(text, content)
        if self._last is None or (self._last.document.id, self._last.version) != (id, version):
            document = read_document(id, text_file, [annotation_file], Ledger())
            self._last = Stored(document, decode(content, annotation_file.origin), version)
        return self._last

    def version_with(self, id: str, content: str) -> str:
        return _version(self._member(id, TEXT).read(), content.encode("utf-8"))

    def write(self, id: str, content: str) -> None:
        replace_file(Path(self._member(id, ANNOTATIONS).origin), content.encode("utf-8"))

    def n_entities(self, id: str) -> int | None:
        stamp = tuple([file_stamp(Path(self._member(id, suffix).origin)) for suffix in (TEXT, ANNOTATIONS)])
        if id not in self._counts or self._counts[id][0] != stamp:
            self._counts[id] = stamp, self._count(id)
        return self._counts[id][1]

    def _count(self, id: str) -> int | None:
        try:
            return len(self.read(id).document.entities)
        except DisconerError:
            return None

    def labels(self) -> list[str]:
        counts = Counter(_label_of(line) for id in self.ids() for line in self._text_bound(id))
        return [label for label, _ in counts.most_common() if label]

    def _text_bound(self, id: str) -> list[bytes]:
        """The T lines of a document, read or not."""
        try:
            with open(self._member(id, ANNOTATIONS).origin, "rb") as stream:
                return [line for line in stream if line.startswith(TEXT_BOUND.encode())]
        except FileNotFoundError:
            return []

    def written(self, document: Document, stored: Stored) -> Written:
        ledger = Ledger()
        content = annotation_text(document, ledger)
        return Written(content, ledger.losses[REMOVED_LINES])

    def label(self, label: str) -> str:
        return brat_label(label)

    def _member(self, id: str, suffix: str) -> Member:
        path = str(self.folder / f"{id}{suffix}")
        if ".." in Path(id).parts or Path(id).is_absolute():
            raise unknown_document(id, self.folder)
        return Member(f"{id}{suffix}", path, lambda: open(path, "rb"), lambda: os.path.getsize(path))


class JsonlFile:
    """A file of native JSONL. Lines of other documents stay as they are."""

    def __init__(self, path: Path) -> None:
        self.path, self.side = path, path.parent / ".disconer" / path.name
        self._lines: list[bytes] = []
        self._places: dict[str, int] = {}
        self._seen: tuple[int, int, int] | None = None
        self._last: Stored | None = None
        self._counts: dict[str, tuple[str, int | None]] = {}  # of entities, with the versions of the lines counted
        self._refresh()

    def ids(self) -> list[str]:
        self._refresh()
        return list(self._places)

    def read(self, id: str) -> Stored:
        line = self._line(id)
        number, version = self._places[id] + 1, _version(line)
        if self._last is None or (self._last.document.id, self._last.version) != (id, version):
            content = decode(line, str(self.path), number)
            record = parse_json(content, Where(str(self.path), number))
            document = from_record(record, ledger=Ledger(), path=str(self.path), line=number)
            self._last = Stored(document, content, version)
        return self._last

    def version_with(self, id: str, content: str) -> str:
        return _version(content.encode("utf-8"))

    def write(self, id: str, content: str) -> None:
        self._line(id)  # keep what others have changed meanwhile
        lines = list(self._lines)
        lines[self._places[id]] = content.encode("utf-8")
        replace_file(self.path, b"\n".join(lines))
        self._lines, self._seen = lines, file_stamp(self.path)

    def n_entities(self, id: str) -> int | None:
        version = _version(self._line(id))
        if id not in self._counts or self._counts[id][0] != version:
            self._counts[id] = version, self._count(id)
        return self._counts[id][1]

    def _count(self, id: str) -> int | None:
        try:
            return len(self.read(id).document.entities)
        except BadInput:
            return None

    def labels(self) -> list[str]:
        readable = [id for id in self.ids() if self.n_entities(id)]
        counts = Counter(entity.label for id in readable for entity in self.read(id).document.entities)
        return [label for label, _ in counts.most_common()]

    def written(self, document: Document, stored: Stored) -> Written:
        record, new = json.loads(stored.content.removeprefix("\ufeff")), to_record(document)
        items = {_item_key(item): item for item in record.get("entities") or ()}
        record["entities"] = [items.get(_item_key(item), item) for item in new["entities"]]
        if document.extras != stored.document.extras:
            record["extras"] = new.get("extras", {})
        return Written(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def label(self, label: str) -> str:
        return label

    def _line(self, id: str) -> bytes:
        self._refresh()
        if id not in self._places:
            raise unknown_document(id, self.path)
        return self._lines[self._places[id]]

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        stamp = file_stamp(self.path)
        if stamp is not None and stamp == self._seen:
            return
        self._lines = self.path.read_bytes().split(b"\n")
        self._places = {}
        for number, line in enumerate(self._lines):
            if line.strip():
                where = Where(str(self.path), number + 1)
                record = parse_json(decode(line, str(self.path), number + 1), where)
                self._places.setdefault(str(record.get("id")) if isinstance(record, dict) else "", number)
        self._seen = stamp
