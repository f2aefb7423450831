"""Entities as a table, one row each: CSV and TSV for spreadsheets and R, data frames for pandas.

Columns: document, id, label, start, end, text, fragments, kind, score: the keys of `Entity.to_dict`. Fragments are
written as in brat, "0 4;15 20". A table has no texts, so it cannot be read back.
"""

from __future__ import annotations

import csv
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from typing import Any, BinaryIO, NoReturn

from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.extras import note_trees, note_unsaid
from disconer.formats.format import Format, Writer, stream_writer
from disconer.formats.source import Source

COLUMNS = ("document", "id", "label", "start", "end", "text", "fragments", "kind", "score")
WITHOUT_ENTITIES = "documents without entities"


def rows(documents: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """A row for each entity."""
    for document in documents:
        for entity in document.entities:
            yield {"document": document.id, **entity.to_dict()}


def to_dataframe(documents: Iterable[Document]) -> Any:
    """A pandas data frame with a row for each entity; fragments are lists of [start, end]."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError as error:
        raise DisconerError("Data frames need pandas", fix="Install it: pip install pandas.") from error
    return pd.DataFrame(list(rows(documents)), columns=list(COLUMNS))


def _writer(dialect: type[csv.Dialect]) -> Writer:
    def write(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
        text = TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        table = csv.DictWriter(text, COLUMNS, dialect=dialect)
        table.writeheader()
        for document in documents:
            note_unsaid(document, "", ledger)
            note_trees(document, ledger)
            ledger.lost(WITHOUT_ENTITIES, not document.entities)
            for row in rows([document]):
                table.writerow(row | {"fragments": ";".join(f"{start} {end}" for start, end in row["fragments"])})
        text.flush()
        text.detach()

    return stream_writer(write)


def _read(source: Source, ledger: Ledger) -> NoReturn:
    raise unreadable_table(source)


def unreadable_table(source: Source) -> DisconerError:
    """The error for a table that was written by disconer: it is an end product."""
    return DisconerError(
        "A table of entities cannot be read: it has no texts",
        where=Where(str(source)),
        fix="Write the documents in a format that can be read, such as --to jsonl instead of --to csv, and read those.",
    )


def is_table(head: bytes) -> bool:
    """Whether a file that starts so is a table as written here."""
    first = head.removeprefix(BOM_UTF8).split(b"\n")[0].decode("utf-8", "replace").strip()
    return any(first == separator.join(COLUMNS) for separator in ",\t;")  # spreadsheets may save it with semicolons


class _Csv(csv.excel):
    lineterminator = "\n"


class _Tsv(csv.excel_tab):
    lineterminator = "\n"


def _format(name: str, about: str, dialect: type[csv.Dialect]) -> Format:
    return Format(
        name=name,
        about=about,
        holds="all entities, one line each, without the texts",
        suffixes=(f".{name}",),
        sniff=lambda name, head: False,
        read=_read,
        write=_writer(dialect),
        is_readable=False,
    )


CSV = _format("csv", "a table of entities, separated by commas", _Csv)
TSV = _format("tsv", "a table of entities, separated by tabs", _Tsv)
