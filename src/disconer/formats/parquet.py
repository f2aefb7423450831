"""Parquet, the tables of Spark, Ray, DuckDB and pandas: a row is a document. Lossless; needs pyarrow.

Columns as in native JSONL: id, text, entities, sentences, extras. Only `text` and `id` must be there, the latter as
text or as whole numbers. Ranges are structs of start and end; extras are a string of JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from disconer.core.errors import BadInput, DisconerError, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import without_halves
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.native import from_record, to_record
from disconer.formats.seen_ids import with_distinct_ids
from disconer.formats.source import Member

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".parquet",)
REPLACED = "lone surrogates, which Parquet cannot store, replaced"
COMPRESSION = "zstd"
ROWS = 1000  # documents in memory at once

_MAGIC = b"PAR1"
COLUMNS = ("id", "text", "entities", "sentences", "extras")
# Of values that JSON has, too; not bytes, times and decimals.
_KNOWN_TYPES = re.compile(r"(?:large_)?string(?:_view)?|u?int\d+|halffloat|float|double|bool|null")


def schema() -> pa.Schema:
    import pyarrow as pa

    ranges = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64())]))
    entity = [("id", pa.string()), ("label", pa.string()), ("fragments", ranges), ("score", pa.float64())]
    sentence = [
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("tokens", ranges),
        ("heads", pa.list_(pa.int64())),
        ("relations", pa.list_(pa.string())),
    ]
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("entities", pa.list_(pa.struct(entity))),
            ("sentences", pa.list_(pa.struct(sentence))),
            ("extras", pa.string()),
        ]
    )


def to_table(documents: Iterable[Document], ledger: Ledger, *, alike: bool = False) -> pa.Table:
    """A row for each document. alike: whether ids that became alike are left so, as where rows are only some of all."""
    require_pyarrow()
    return _table(_cleaned(documents, ledger) if alike else _storable(documents, ledger))


def _table(documents: Iterable[Document]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(list(map(_row, documents)), schema=schema())


def _storable(documents: Iterable[Document], ledger: Ledger) -> Iterator[Document]:
    return with_distinct_ids(_cleaned(documents, ledger), ledger)


def _cleaned(documents: Iterable[Document], ledger: Ledger) -> Iterator[Document]:
    """The documents without lone surrogates."""
    for document in documents:
        document, n_halves = without_halves(document)
        ledger.lost(REPLACED, n_halves)
        yield document


def require_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise DisconerError("Parquet files need pyarrow", fix="Install it: pip install pyarrow.")


def _row(document: Document) -> dict[str, Any]:
    row = to_record(document)
    for entity in row["entities"]:
        entity["fragments"] = [fragment._asdict() for fragment in entity["fragments"]]
    for sentence in row.get("sentences") or ():
        sentence["tokens"] = [token._asdict() for token in sentence["tokens"]]
    return row | {"extras": json.dumps(document.extras) if document.extras else None}


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """The record of a row, as native JSONL has it."""
    for entity in row.get("entities") or ():
        entity["fragments"] = _pairs(entity["fragments"])
    for sentence in row.get("sentences") or ():
        sentence["tokens"] = _pairs(sentence["tokens"])
    if type(row.get("id")) is int:
        row["id"] = str(row["id"])
    if isinstance(row.get("extras"), str):
        row["extras"] = json.loads(row["extras"])
    elif row.get("extras") is not None:
        json.dumps(row["extras"])  # a TypeError, unless JSON can hold them
    return row


def _pairs(ranges: list[dict[str, int]]) -> list[tuple[int, int]]:
    return [(one["start"], one["end"]) for one in ranges]


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    require_pyarrow()
    from pyarrow.parquet import ParquetFile

    with member.open() as stream, _checked(member):
        file = ParquetFile(stream)
        columns = [name for name in COLUMNS if name in file.schema_arrow.names]
        _check_columns(file.schema_arrow, member)
        number = 0
        for batch in file.iter_batches(batch_size=ROWS, columns=columns):
            for row in _rows(batch):
                number += 1
                try:
                    yield document_of_row(row, ledger, f"{member.origin}, row {number}")
                except BadInput as error:
                    ledger.error(error)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | UnicodeDecodeError]:
    """The rows of a batch. pyarrow does not check strings before they are used: a bad one is its row's error."""
    try:
        yield from batch.to_pylist()
        return
    except UnicodeDecodeError:
        pass
    for number in range(batch.num_rows):
        try:
            (row,) = batch.slice(number, 1).to_pylist()
        except UnicodeDecodeError as error:
            row = error
        yield row


def document_of_row(row: dict[str, Any] | UnicodeDecodeError, ledger: Ledger, where: str) -> Document:
    """The document of a row. where: the row's place, for messages."""
    if isinstance(row, UnicodeDecodeError):
        raise BadInput(
            "bad-encoding", "A string of this row is not UTF-8", where=Where(where), fix="Make the table again."
        )
    try:
        record = _record(row)
    except (TypeError, KeyError, ValueError, RecursionError) as error:
        raise BadInput(
            "bad-syntax",
            "This row is not a disconer document",
            where=Where(where),
            got=excerpt(repr(error)),
            fix="The page on formats describes the columns; remove those with another meaning.",
        ) from error
    return from_record(record, ledger=ledger, path=where)


def _check_columns(columns: pa.Schema, member: Member) -> None:
    if missing := [name for name in ("id", "text") if name not in columns.names]:
        raise BadInput(
            "bad-syntax",
            f"This table has no column {missing[0]!r}",
            where=Where(member.origin),
            got=", ".join(columns.names),
            expected="the columns id and text",
            fix="Rename the columns of ids and texts.",
        )
    for column in columns:
        if column.name in COLUMNS and (foreign := _foreign_type(column.type)):
            raise BadInput(
                "bad-syntax",
                f"The column {column.name!r} of this table has a type that documents do not have",
                where=Where(member.origin),
                got=foreign,
                expected="strings" if column.name in ("id", "text", "extras") else "strings and numbers",
                fix="Convert it, or remove the column if it means something else.",
            )


def _foreign_type(kind: pa.DataType) -> str | None:
    """The first type within a column's type that is not known; None if all are."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _foreign_type(kind.value_type)
    if pa.types.is_nested(kind):
        found = (_foreign_type(kind.field(number).type) for number in range(kind.num_fields))
        return next(filter(None, found), None)
    return None if _KNOWN_TYPES.fullmatch(str(kind)) else str(kind)


@contextmanager
def _checked(member: Member) -> Iterator[None]:
    """Errors of pyarrow as messages for users."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, UnicodeDecodeError) as error:
        raise BadInput(
            "bad-syntax",
            "This Parquet file is damaged or incomplete",
            where=Where(member.origin),
            got=excerpt(str(error)),
            fix="Copy it or make it again.",
        ) from error


def _write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    require_pyarrow()
    from pyarrow.parquet import ParquetWriter

    rest = _storable(documents, ledger)
    with ParquetWriter(stream, schema(), compression=COMPRESSION) as writer:
        while some := list(islice(rest, ROWS)):
            writer.write_table(_table(some))


def _sniff(name: str, head: bytes) -> bool:
    return head.startswith(_MAGIC)


FORMAT = Format(
    name="parquet",
    about="Parquet tables, one row per document; needs pyarrow",
    holds="everything",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=stream_writer(_write),
)
