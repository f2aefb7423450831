"""A stand-in for the model, and inputs in several formats, so that sharing is tested without loading anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from disconer import Document, Entity, write
from disconer.formats.source import Source
from disconer.predict import walk
from disconer.predict.inputs import Unit, units

FORMATS = ("jsonl", "jsonl.gz", "folder of texts", "folder of jsonl", "bioc-xml", "folder of bioc-xml")


class PainFinder:
    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            found = [Entity("ADR", (match.span(),), score=0.5) for match in re.finditer("pain", document.text)]
            yield document.replace(entities=tuple(found))

    def annotate_blocks(self, blocks: Iterable[list[Document]]) -> Iterator[Document]:
        for block in blocks:
            yield from self.annotate(block)


def documents(n: int) -> list[Document]:
    return [Document(f"d{number:04}", f"{'very ' * (number % 7)}pain {number}") for number in range(n)]


def inputs(path: Path, format: str, n: int) -> list[Unit]:
    """The units of an input of `n` documents."""
    given = documents(n)
    if format == "folder of texts":
        path.mkdir()
        for document in given:
            (path / f"{document.id}.txt").write_text(document.text)
        return list(units(Source(path), "text"))
    if format.startswith("folder of"):
        name = format.removeprefix("folder of ")
        path.mkdir()
        for first in range(0, n, 3):
            write(given[first : first + 3], path / f"{first:04}.{'jsonl' if name == 'jsonl' else 'xml'}", name)
        return list(units(Source(path), name))
    file = path.with_suffix(f".{format.removeprefix('bioc-')}")
    write(given, file, format.removesuffix(".gz"))
    return list(units(Source(file), format.removesuffix(".gz")))


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "BLOCK_RECORDS", 4)
    monkeypatch.setattr(walk, "BLOCK_BYTES", 250)
