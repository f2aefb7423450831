"""brat → exchange format → brat on real corpora."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer import Document, read
from round_trips import through

CORPORA = {"chia": 1, "phee": 10}  # every so many documents of it


@pytest.fixture(scope="module", params=CORPORA)
def corpus(data: Path, request: pytest.FixtureRequest) -> list[Document]:
    (archive,) = (data / request.param).glob("*.zip")
    return list(read(archive, "brat"))[:: CORPORA[request.param]]


def said(documents: list[Document]) -> dict[str, tuple[str, list[object]]]:
    return {
        document.id: (document.text, [(entity.id, entity.key) for entity in document.entities])
        for document in documents
    }


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.xml", "bioc-xml"), ("a.json", "bioc-json"), ("a.json", "pubannotation"), ("a.jsonl", "bigbio")],
)
def test_every_text_label_and_fragment_comes_back(corpus: list[Document], name: str, format: str) -> None:
    exchanged, ledger = through(corpus, name, format)
    assert said(exchanged) == said(corpus)
    assert all(what.startswith("brat ") for what in ledger.losses)
    some = exchanged[::10]  # brat files are many and slow to write, and all documents are alike by now
    back, _ = through(some, "folder", "brat")
    assert said(back) == said(some)
