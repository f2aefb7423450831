"""Hugging Face `datasets`: a row is a document, with the columns of Parquet. Lossless; needs the package `datasets`.

Entities are a list of {id, label, fragments, score}, fragments a list of {start, end}.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.plugins import is_installed
from disconer.core.types import Document
from disconer.formats.parquet import COLUMNS, document_of_row, schema, to_table

_LISTS = {"entities": ("fragments",), "sentences": ("tokens",)}  # columns of lists, and the lists within


def _library() -> Any:
    if not is_installed("datasets"):
        raise DisconerError(
            "Data sets of Hugging Face need the package datasets", fix="Install it: pip install datasets."
        )
    return import_module("datasets")


def to_dataset(documents: Iterable[Document], ledger: Ledger | None = None) -> Any:
    """A `datasets.Dataset` with a row for each document. ledger: counts lone surrogates, which it cannot store."""
    library = _library()
    columns = to_table(documents, ledger or Ledger()).to_pydict()
    return library.Dataset.from_dict(columns, features=library.Features.from_arrow_schema(schema()))


def from_dataset(rows: Iterable[Mapping[str, Any]], ledger: Ledger | None = None) -> Iterator[Document]:
    """The documents of a `datasets.Dataset`, whole or streamed; columns other than ours are ignored."""
    ledger = ledger or Ledger()
    for number, row in enumerate(rows, 1):
        own = {name: _as_list(name, row[name]) for name in COLUMNS if name in row}
        yield document_of_row(own, ledger, f"data set, row {number}")


def _as_list(name: str, value: Any) -> Any:
    """A list of objects, also where the library gives an object of lists, as for features of the type Sequence."""
    if name not in _LISTS or value is None:
        return value
    items = _transposed(value)
    for item in items:
        item |= {inner: _transposed(item[inner]) for inner in _LISTS[name] if item.get(inner) is not None}
    return items


def _transposed(value: Any) -> list[Any]:
    if not isinstance(value, Mapping):
        return [dict(item) for item in value]
    return [dict(zip(value, items, strict=True)) for items in zip(*value.values(), strict=True)]


def to_dataset_dict(splits: Mapping[str, Iterable[Document]]) -> Any:
    """A `datasets.DatasetDict` with the splits of a corpus."""
    return _library().DatasetDict({name: to_dataset(documents) for name, documents in splits.items()})


def from_dataset_dict(data: Any) -> dict[str, tuple[Document, ...]]:
    """The splits of a `DatasetDict`, or those of a single `Dataset`: the one that it is of, or `all`."""
    if isinstance(data, Mapping):
        return {str(name): tuple(from_dataset(rows)) for name, rows in data.items()}
    return {str(getattr(data, "split", None) or "all"): tuple(from_dataset(data))}
