"""Hugging Face datasets. Those that need the package are skipped where it is not installed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from disconer import BadInput, Corpus, DisconerError, Document, Entity
from disconer.formats import datasets as exchange
from disconer.text import segment
from strategies import documents

ENTITIES = (Entity("A", ((0, 4), (17, 21)), "T1", 0.5),)
DOCUMENT = segment(Document("d", "Pain in arms and legs", ENTITIES, extras={"brat": {"lines": []}}))
ROW = {
    "id": "d",
    "text": "Pain in arms and legs",
    "entities": [
        {"id": "T1", "label": "A", "fragments": [{"start": 0, "end": 4}, {"start": 17, "end": 21}], "score": 0.5}
    ],
    "sentences": None,
    "extras": None,
}


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "is_installed", lambda package: False)
    with pytest.raises(DisconerError, match=r"need the package datasets\. Install it: pip install datasets\."):
        Corpus({"train": (DOCUMENT,)}).to_datasets()


def test_rows_of_any_kind_are_documents() -> None:
    fragments = {"start": [0, 17], "end": [4, 21]}  # as features of the type Sequence come
    sequence = {"id": ["T1"], "label": ["A"], "fragments": [fragments], "score": [0.5]}
    for entities in (ROW["entities"], sequence):
        (document,) = exchange.from_dataset([ROW | {"entities": entities, "other": 3}])
        assert document == DOCUMENT.replace(sentences=None, extras={})
    with pytest.raises(BadInput, match="data set, row 1, entity T1, offset 0: A fragment ends past the end"):
        list(exchange.from_dataset([ROW | {"text": "Pain"}]))
    assert Corpus.from_datasets({"dev": [ROW]})["dev"][0].id == "d"


@pytest.fixture(scope="module")
def library() -> Any:
    return pytest.importorskip("datasets", reason="pip install datasets")


def test_fragments_and_everything_else_come_back(library: Any) -> None:
    corpus = Corpus({"train": (DOCUMENT, Document("e", "")), "dev": ()})
    data = corpus.to_datasets()
    assert isinstance(data, library.DatasetDict)
    assert data["train"][0]["entities"][0]["fragments"] == [{"start": 0, "end": 4}, {"start": 17, "end": 21}]
    assert Corpus.from_datasets(data) == corpus
    assert Corpus.from_datasets(data["train"].map(lambda row: row))["all"] == corpus["train"]


def test_a_data_set_on_disk_and_streamed(library: Any, tmp_path: Any) -> None:
    data = Corpus({"train": (DOCUMENT,)}).to_datasets()
    data.save_to_disk(tmp_path / "data")
    assert Corpus.from_datasets(library.load_from_disk(tmp_path / "data"))["train"] == (DOCUMENT,)
    assert list(exchange.from_dataset(data["train"].to_iterable_dataset())) == [DOCUMENT]


@pytest.mark.usefixtures("library")
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=documents())
def test_round_trip_of_random_documents(document: Document) -> None:
    assert list(exchange.from_dataset(exchange.to_dataset([document]))) == [document]
