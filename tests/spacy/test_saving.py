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
from nn.toy import letter_model, lively, toy_model
from once import with_graphs_once
from spacy_docs import Stub, pipeline

TEXTS = ["Pain and stiffness in my knees, after 5 mg aspirin. No fever.", "Rash.", "Severe renal or hepatic pain"]
SERVER = "corenlp:http://collector.example:9000"
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


def test_a_model_for_onnx_runtime_is_saved_and_pickled_like_any(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    save_model(with_graphs_once(tmp_path_factory, letter_model()), tmp_path / "model")
    nlp, other = spacy.blank("en"), spacy.blank("en")
    nlp.add_pipe("disconer", config={"model": str(tmp_path / "model")})
    assert [entity.text for entity in nlp("p in my k")._.disconer] == ["p k"]
    assert nlp.get_pipe("disconer").recognizer.runtime == "onnx"
    other.add_pipe("disconer")
    other.from_bytes(nlp.to_bytes())
    other.to_disk(tmp_path / "pipeline")  # where the bytes were written is still there
    pickled = pickle.dumps(nlp)
    (tmp_path / "model").rename(tmp_path / "away")
    for again in (spacy.load(tmp_path / "pipeline"), pickle.loads(pickled), pickle.loads(pickle.dumps(other))):
        assert [entity.text for entity in again("p in my k")._.disconer] == ["p k"]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A model that was trained with the trees of a server."""
    save_model(toy_model(syntax={"parser": SERVER, "gcn": {}}), tmp_path / "model")
    return tmp_path / "model"


def test_the_parser_of_a_model_is_used_only_if_the_user_names_it(elsewhere: Path) -> None:
    refused, chosen = spacy.blank("en"), spacy.blank("en")
    refused.add_pipe("disconer", config={"model": str(elsewhere)})
    with pytest.raises(DisconerError, match="sends every text to that address"):
        refused(TEXTS[0])
    chosen.add_pipe("disconer", config={"model": str(elsewhere), "parser": "none"})
    assert not chosen.get_pipe("disconer").recognizer.parses
    assert chosen(TEXTS[0]).text == TEXTS[0]


@pytest.mark.parametrize("in_config", [None, SERVER], ids=["of the model", "of the pipeline"])
def test_a_saved_pipeline_names_no_server_for_those_who_load_it(
    elsewhere: Path, tmp_path: Path, in_config: str | None
) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer", config={"model": str(elsewhere), "parser": in_config})
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    with pytest.raises(DisconerError, match="sends every text to that address"):
        loaded(TEXTS[0])
    trees = tmp_path / "a.conllu"
    trees.write_text("1\tRash\t_\t_\t_\t_\t0\troot\t_\t_\n2\t.\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n")
    loaded.get_pipe("disconer").parser = f"conllu:{trees}"
    assert loaded.get_pipe("disconer").recognizer.parses
    assert loaded("Rash.").text == "Rash."


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
