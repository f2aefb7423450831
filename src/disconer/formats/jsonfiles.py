"""JSON files of records: one object, an array of them, or one per line (JSON Lines)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Reader, Writer, member_reader
from disconer.formats.source import MAX_LINE, Member, decode
from disconer.formats.target import new_file

SUFFIXES = (".json", ".jsonl", ".ndjson")
_LINES = (".jsonl", ".ndjson", ".dygie")
MAX_FILE = 512 * 2**20  # bytes; a JSON file that is not JSON Lines is held in memory, several times its size
MAX_DEPTH = 100  # of what is carried along, such as infons; no annotation format nests deeper
_BOM = "\ufeff"


def iter_records(member: Member, ledger: Ledger) -> Iterator[tuple[Where, Any]]:
    """The records of a file, each with its place. Each bad line of JSON Lines is one error; any other bad file, one."""
    if member.suffix not in _LINES and not _has_record_lines(member):
        where = Where(member.origin)
        content = check_depth(parse_json(decode(_whole(member), member.origin), where), where)
        yield from ((where, record) for record in (content if isinstance(content, list) else [content]))
        return
    for number, line in member.lines():
        if line.strip():
            where = Where(member.origin, number)
            try:
                record = check_depth(parse_json(line, where), where)
            except BadInput as error:
                ledger.error(error)
                continue
            yield where, record


def _has_record_lines(member: Member) -> bool:
    """Whether the first line is a whole object and the next starts another, as only JSON Lines can."""
    with member.open() as stream:
        first = stream.readline(MAX_LINE).strip().removeprefix(_BOM.encode())
        return first[:1] == b"{" and first[-1:] == b"}" and stream.read(2**10).lstrip()[:1] == b"{"


def _whole(member: Member) -> bytes:
    with member.open() as stream:
        data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise BadInput(
            "file-too-large",
            "This JSON file is too large for memory",
            where=Where(member.origin),
            got=f"more than {MAX_FILE // 2**20} MiB",
            fix="Write it as JSON Lines (.jsonl, one record per line), which is read line by line.",
        )
    return data


def parse_json(text: str, where: Where) -> Any:
    """The value of a JSON text; `BadInput` says where it is invalid."""
    text = text.removeprefix(_BOM)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise _nested(where) from error
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):  # Python refuses integers that would take long to convert
            raise BadInput("bad-syntax", "A number of this JSON is too long", where=where, got=str(error)) from error
        at_end = error.pos >= len(text.rstrip()) - len("false") or error.msg.startswith(("Unterminated", "Invalid \\"))
        cut = error.pos >= len(text.rstrip()) or (at_end and text.rstrip()[-1:] not in ("}", "]"))
        raise BadInput(
            "truncated" if cut else "bad-syntax",
            "This JSON ends too early" if cut else "This is not JSON",
            where=Where(where.path, where.line or error.lineno),
            got=f"{error.msg} at column {error.colno}",
            fix="Check that the file is complete." if cut else None,
        ) from error


def check_depth(value: Any, where: Where) -> Any:
    """The value, unless it is nested deeper than every writer can follow."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return value
    raise _nested(where)


def _nested(where: Where) -> BadInput:
    return BadInput("bad-syntax", "This JSON is nested too deeply", where=where, expected=f"at most {MAX_DEPTH} levels")


def shown(value: Any) -> str:
    """A value for a message, as JSON has it: 7 is a number, "7" a string. What JSON cannot hold, as Python has it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):  # see `excerpt`; a table may hold bytes or times
        return excerpt(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


_SHOWN = 60  # characters
TYPE_NAMES = {str: "a string", int: "a whole number", list: "an array", dict: "an object"}


def field(record: Any, name: str, kind: type, where: Where, **default: Any) -> Any:
    """A field of a JSON object, of the right type; `default` if it is absent or null."""
    if not isinstance(record, dict):
        raise BadInput("bad-syntax", "This is not a record", where=where, got=excerpt(record), expected="an object")
    value = record.get(name)
    if value is None and "default" in default:
        return default["default"]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadInput(
            "bad-syntax",
            f"The field {name!r} is {'missing' if value is None else 'of the wrong type'}",
            where=where,
            got=None if value is None else shown(value),
            expected=TYPE_NAMES[kind],
        )
    return value


# A string, a mark, or the opening quote of a string that the excerpt cuts off.
_PIECE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:]|"', re.DOTALL)


def leading_keys(head: bytes) -> set[str]:
    """The keys of the first object in the first bytes of a JSON text, not those of objects within it.

    >>> sorted(leading_keys(b'[{"id": "1", "text": "a \\\\"b\\\\": c", "extras": {"x": 1}, "cut'))
    ['extras', 'id', 'text']
    """
    keys: set[str] = set()
    depth = level = 0
    last = b""
    head = head.removeprefix(_BOM.encode()).lstrip()
    for match in _PIECE.finditer(head) if head[:1] in (b"{", b"[") else ():
        piece = match.group()
        if piece in (b"{", b"["):
            depth += 1
            level = level or (depth if piece == b"{" else 0)
        elif piece in (b"}", b"]"):
            depth -= 1
            if level and depth < level:
                break
        elif piece == b'"':
            break
        elif piece == b":" and depth == level:
            keys.add(last[1:-1].decode("utf-8", "replace"))
        last = piece
    return keys


FromRecord = Callable[[Any, str, Where, Ledger], Document | None]


def record_reader(from_record: FromRecord) -> Reader:
    """A reader of files in which each record is a document.

    from_record: takes a record, a name for documents without an id, and its place; returns None for other records.
    """

    def read(member: Member, ledger: Ledger) -> Iterator[Document]:
        for number, (where, record) in enumerate(iter_records(member, ledger), 1):
            try:
                document = from_record(record, f"{member.stem}-{number}", where, ledger)
            except BadInput as error:
                ledger.error(error)
                continue
            if document is not None:
                yield document

    return member_reader(SUFFIXES, read)


def json_writer(to_record: Callable[[Document, Ledger], dict[str, Any]]) -> Writer:
    """A writer of records: one per line if the name ends in .jsonl, else an array, or an object for a single record."""

    def write(documents: Iterable[Document], path: Path, ledger: Ledger) -> None:
        name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        records = (dump_json(to_record(document, ledger)) for document in documents)
        with new_file(path) as stream:
            for piece in _lines(records) if name.suffix.lower() in _LINES else _array(records):
                stream.write(piece)

    return write


def _lines(records: Iterable[bytes]) -> Iterator[bytes]:
    for record in records:
        yield record + b"\n"


def _array(records: Iterator[bytes]) -> Iterator[bytes]:
    first, second = next(records, None), next(records, None)
    if first is not None and second is None:
        yield first + b"\n"
        return
    yield b"["
    if first is not None and second is not None:
        yield b"\n" + first + b",\n" + second
    for record in records:
        yield b",\n" + record
    yield b"\n]\n"


def dump_json(value: Any) -> bytes:
    """One line of UTF-8 JSON; a lone surrogate, which UTF-8 cannot encode, is written as its JSON escape."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
