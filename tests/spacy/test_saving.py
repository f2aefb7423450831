"""Pipelines with a model in them: on disk, in bytes, pickled, in several processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'disconer[spacy]'")

import torch
from spacy.language import Language

import spacy
from disconer import DisconerError, Document
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import save_model
from nn.toy import lively, toy_model
from spacy_docs import Stub, pipeline

TEXTS = ["Pain and stiffness in my knees, after 5 mg aspirin. No fever.", "Rash.", "Severe renal or hepatic pain"]
SECONDS = 30  # after which a process that has nothing to do is taken to be stuck


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(lively(toy_model()), folder)
    return folder


@pytest.fixture
def nlp(model: Path) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer", config={"model": str(model), "spans_key": "toy", "tokens": "spacy"})
    return nlp


def found(nlp: Language) -> list[list[tuple[object, ...]]]:
    return [[entity.key for entity in nlp(text)._.disconer] for text in TEXTS]


def test_what_the_model_finds_is_what_the_pipeline_gives(model: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer", config={"model": str(model)})
    documents: list[Document] = list(Recognizer.from_pretrained(model).pipe(TEXTS))
    assert [doc._.disconer for doc in nlp.pipe(TEXTS)] == [document.entities for document in documents]
    assert sum(len(document.entities) for document in documents) > 5
    assert nlp.pipe_labels["disconer"] == ["ADR", "Drug"]


def test_without_a_name_the_default_model_is_taken(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCONER_MODEL", str(model))
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer")
    assert nlp(TEXTS[0])._.disconer


def test_a_pipeline_on_disk_has_its_model_with_it(nlp: Language, model: Path, tmp_path: Path) -> None:
    expected = found(nlp)
    nlp.to_disk(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "moved")
    model.rename(model.with_name("away"))  # the config still names it
    try:
        loaded = spacy.load(tmp_path / "moved")
        assert found(loaded) == expected
    finally:
        model.with_name("away").rename(model)
    assert loaded.get_pipe("disconer").spans_key == "toy"
    loaded.to_disk(tmp_path / "again")
    assert found(spacy.load(tmp_path / "again")) == expected


def test_a_pipeline_in_bytes_has_its_model_with_it(nlp: Language) -> None:
    other = spacy.blank("en")
    other.add_pipe("disconer", config={"model": "nowhere", "spans_key": "toy", "tokens": "spacy"})
    assert found(other.from_bytes(nlp.to_bytes())) == found(nlp)


def test_a_pipeline_can_be_pickled_before_and_after_it_was_used(nlp: Language) -> None:
    unused = pickle.loads(pickle.dumps(nlp))
    expected = found(nlp)
    used = pickle.loads(pickle.dumps(nlp))
    assert found(unused) == found(used) == expected


def test_several_processes_find_the_same(nlp: Language) -> None:
    expected = [[entity.key for entity in doc._.disconer] for doc in nlp.pipe(TEXTS)]
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=1))
    assert [[entity.key for entity in doc._.disconer] for doc in docs] == expected


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


class Busy(Stub):
    """Does work that torch spreads over threads."""

    def annotate(self, documents: list[Document]) -> Iterator[Document]:
        torch.ones(2**21).exp()
        return super().annotate(documents)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have(two_threads: None) -> None:
    nlp, _ = pipeline(lambda text: [])
    nlp.get_pipe("disconer").recognizer = Busy(lambda text: [])
    nlp("text")
    worker = multiprocessing.get_context("fork").Process(target=nlp, args=("text",))
    worker.start()
    worker.join(timeout=SECONDS)
    stuck = worker.is_alive()
    worker.kill()
    assert not stuck
    assert worker.exitcode == 0


def test_a_model_on_a_gpu_is_refused_in_forked_processes(nlp: Language) -> None:
    component = nlp.get_pipe("disconer")
    component.recognizer = SimpleNamespace(device="cuda")
    component._held._process = -1
    with pytest.raises(DisconerError, match="n_process at 1"):
        nlp("text")
