"""A threshold: more entities than the model reports by itself, or fewer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from disconer import Document, Recognizer
from disconer.export.onnx import export_model
from disconer.nn.heads.kind import NEAR, kind_of
from disconer.store.checkpoint import Model
from nn.toy import lively, toy_model

TEXT = "Severe pain in knees and hands after aspirin; could not sleep; renal or hepatic impairment."
TEXTS = [TEXT, "Swollen hands; swollen feet (both); 3 tablets of a-b-c twice a day, then none.", "p", "k " * 40]

HEADS: dict[str, dict[str, Any]] = {
    "grid": {"kind": "grid"},
    "grid by paths": {"kind": "grid", "decoding": "paths"},
    "span": {"kind": "span"},
    "span, multilabel": {"kind": "span", "labels": "many"},
    "hypergraph": {"kind": "hypergraph"},
}


def random_model(head: dict[str, Any]) -> Model:
    """An untrained model that finds much, some of it hardly."""
    torch.manual_seed(5)
    model = toy_model(layers=1, encoder={"lstm": None}, head=head)
    if head["kind"] == "span":
        return lively(model)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.network.head.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.6 / parameter.shape[-1] ** 0.5, generator=generator)
            else:
                parameter.zero_()
    return model


def scores(documents: list[Document]) -> dict[tuple[str, Any], float]:
    return {(one.id, entity.key): entity.score or 0.0 for one in documents for entity in one.entities}


@pytest.mark.parametrize("model", ["clinical-trials", "pharmacovigilance"])
def test_a_low_one_finds_more_and_a_high_one_less(model: str) -> None:
    ner = Recognizer.from_pretrained(model, runtime="onnx")
    reported = scores([ner(TEXT)])
    near = scores([ner(TEXT, threshold=0)])
    assert near.items() > reported.items()
    assert len(near) > len(reported) > 2
    assert max(near[key] for key in near.keys() - reported.keys()) < min(reported.values())
    for least in (0.2, 0.5, sorted(near.values())[3], 1):
        assert scores([ner(TEXT, threshold=least)]) == {key: score for key, score in near.items() if score >= least}
    assert scores([ner(TEXT)]) == reported  # the recogniser itself is as before
    low = Recognizer(ner.model, threshold=0.2)
    assert scores([low(TEXT)]) == scores(list(ner.pipe([TEXT], threshold=0.2)))
    assert scores(list(low.annotate([Document("text-1", TEXT)], threshold=0.9))) == scores([ner(TEXT, threshold=0.9)])


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_what_is_reported_is_reported_with_near_misses_too(head: dict[str, Any]) -> None:
    ner = Recognizer(random_model(head), device="cpu")
    reported = scores(list(ner.pipe(TEXTS)))
    near = scores(list(ner.pipe(TEXTS, threshold=0)))
    assert near.items() > reported.items()
    assert reported
    assert scores(list(ner.pipe(TEXTS))) == reported


def test_near_misses_of_the_grid_are_as_likely_as_promised() -> None:
    ner = Recognizer(random_model(HEADS["grid"]), device="cpu")
    assert min(scores(list(ner.pipe(TEXTS, threshold=0))).values()) > NEAR
    assert min(scores(list(ner.pipe(TEXTS))).values()) > 0.5


def test_heads_that_cannot_tell_give_what_they_report() -> None:
    ner = Recognizer(random_model({"kind": "tagger"}), device="cpu")
    reported = scores(list(ner.pipe(TEXTS)))
    assert reported
    assert scores(list(ner.pipe(TEXTS, threshold=0))) == reported
    assert scores(list(ner.pipe(TEXTS, threshold=0.3))) == {key: one for key, one in reported.items() if one >= 0.3}


def test_what_a_grid_fetches_for_another_process_has_its_near_misses() -> None:
    model = random_model(HEADS["grid"])
    runtime = model.runtime("cpu").near()
    read = kind_of(model.config.head).fetched_reader(model.config.head, model.labels, near=True)
    assert read is not None
    ner = Recognizer(model, device="cpu")
    batches = [batch for text in TEXTS for batch in ner._prepare([Document("text", text)]).batches]
    fetched = [read(runtime.fetch(runtime.launch(batch))) for batch in batches]
    assert fetched == list(runtime.find(batches))
    assert fetched != list(model.runtime("cpu").find(batches))


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_both_runtimes_find_the_same(head: dict[str, Any], tmp_path: Path) -> None:
    model = random_model(head)
    export_model(model, tmp_path)
    ours = scores(list(Recognizer(model, device="cpu", threshold=0.15).pipe(TEXTS)))
    theirs = scores(list(Recognizer.from_pretrained(tmp_path, threshold=0.15).pipe(TEXTS)))
    unsure = {key for key, score in (ours | theirs).items() if abs(score - 0.15) < 1e-4}
    assert ours.keys() - unsure == theirs.keys() - unsure
    assert all(theirs[key] == pytest.approx(ours[key], abs=1e-4) for key in ours.keys() & theirs.keys())
    assert len(ours) > len(TEXTS)
