"""Trainings that start from a model (`training.start_from`)."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from disconer import DisconerError, Document
from disconer.config import Config, config_from_dict
from disconer.demo import demo_config
from disconer.runs.processes import differences
from disconer.store.checkpoint import Model, load_model
from disconer.store.description import model_digest, read_description
from disconer.store.names import find_model
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.training import train
from disconer.training.data import read_data
from disconer.training.display import Display
from disconer.training.record import facts_of_all, run_facts
from disconer.training.training_run import first_model
from once import made_once
from training.synthetic import DRUGS, PLACES, complaints, prepare
from training.test_resume import Killed, assert_same_result, dying_in_epoch

SISTER = {"ADR": "Effect", "Drug": "Drug"}
RATES = {"encoder_rate": 1e-3, "head_rate": 3e-3, "adversarial": 0.0}


def renamed(documents: list[Document], labels: dict[str, str]) -> list[Document]:
    return [
        document.replace(entities=[replace(entity, label=labels[entity.label]) for entity in document.entities])
        for document in documents
    ]


def with_heads(document: Document) -> Document:
    """The first word of each sentence is its root, over all the others."""
    cut = segment(document, SPLITTERS["rules"], TOKENIZERS["words"])
    return cut.replace(
        sentences=[replace(sentence, heads=(-1, *(0 for _ in sentence.tokens[1:]))) for sentence in cut.sentences or ()]
    )


def changed(config: Config, **sections: dict[str, Any] | None) -> Config:
    values = config.to_dict()
    return config_from_dict(values | {name: values[name] | (changes or {}) for name, changes in sections.items()})


@dataclass(frozen=True)
class Family:
    """A trained model, and the configuration of a training on another task that starts from it."""

    given: Path
    config: Config


def family(folder: Path, head: dict[str, Any] | None = None, **words: dict[str, Any]) -> Family:
    base = changed(prepare(folder, complaints(8), complaints(8), epochs=1, **RATES), **words)
    if head is not None:
        base = config_from_dict(base.to_dict() | {"head": head})
    given = train(base, folder / "given").folder
    (folder / "own").mkdir()
    own = prepare(folder / "own", renamed(complaints(12), SISTER), renamed(complaints(6, seed=2), SISTER), **RATES)
    values = base.to_dict() | {"data": own.to_dict()["data"]}
    values["training"] |= {"start_from": str(folder / "given"), "epochs": 2}
    return Family(given, config_from_dict(values))


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory) -> Family:
    return made_once(tmp_path_factory, "family", family)


def first(config: Config) -> tuple[Model, list[str]]:
    torch.manual_seed(config.training.seed)
    model, notes = first_model(config, read_data(config.data))
    return model, list(notes)


def assert_same_words(model: Model, given: Model) -> None:
    torch.testing.assert_close(
        model.network.words.state_dict(), given.network.words.state_dict(), rtol=0, atol=0, check_device=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["span", "grid", "hypergraph", "tagger", "transition", "sequence", "combined"])
def test_words_and_head_are_taken_over(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = family(tmp_path, {"kind": kind}, encoder={"layers": "mix"})
    model, notes = first(made.config)
    given = load_model(made.given)
    assert_same_words(model, given)
    own, known = model.network.head.state_dict(), given.network.head.state_dict()
    partly = model.network.head.axis_names()
    whole = [name for name in own if own[name].shape == known[name].shape and name not in partly]
    assert whole
    assert all(torch.equal(own[name], known[name]) for name in whole)
    assert model.labels == ("Drug", "Effect")
    assert notes[0].startswith(f"starts from {tmp_path / 'given'}: encoder, BiLSTM, ")
    assert "labels reused: Drug; new: Effect" in notes
    train(made.config, tmp_path / "run")
    assert "note: labels reused: Drug; new: Effect\n" in capsys.readouterr().err


def test_the_same_start_each_time(spans: Family) -> None:
    states = [first(spans.config)[0].network.state_dict() for _ in range(2)]
    torch.testing.assert_close(*states, rtol=0, atol=0)


def test_the_encoder_comes_from_the_model(spans: Family, tmp_path: Path) -> None:
    """Neither its own weights nor its tokenizer are looked for by encoder.name."""
    folder = tmp_path / "moved"
    shutil.copytree(spans.given, folder)
    description = json.loads((folder / "config.json").read_text("utf-8"))
    description["config"]["encoder"]["name"] = "not-there"
    (folder / "config.json").write_text(json.dumps(description))
    config = changed(spans.config, encoder={"name": "not-there"}, training={"start_from": str(folder)})
    model, _ = first(config)
    assert_same_words(model, load_model(spans.given))
    card = train(changed(config, training={"epochs": 1}), tmp_path / "run").folder / "README.md"
    assert "on the encoder `not-there`, starting from the model `" in card.read_text("utf-8")
    assert str(tmp_path) not in card.read_text("utf-8")


def test_what_does_not_change_the_words_is_free(spans: Family) -> None:
    config = changed(spans.config, encoder={"dropout": 0.3, "context": 0, "frozen": True})
    model, _ = first(config)
    assert not any(parameter.requires_grad for parameter in model.network.encoder_parameters())
    assert_same_words(model, load_model(spans.given))


def test_another_kind_of_head_is_fresh(spans: Family) -> None:
    values = spans.config.to_dict() | {"head": {"kind": "tagger"}}
    model, notes = first(config_from_dict(values))
    assert_same_words(model, load_model(spans.given))
    assert notes == [
        f"starts from {spans.config.training.start_from}: encoder, BiLSTM; "
        "the head is new: its head is of kind span, this one of kind tagger"
    ]


@pytest.mark.parametrize(
    ("encoder", "told"),
    [
        (
            {"lstm": {"size": 100}},
            r"encoder\.lstm\.size is 100, but 200 in the model\. .*--set 'encoder\.lstm\.size=200'",
        ),
        ({"lstm": None}, r"encoder\.lstm is null, but \{\"size\": 200, .* in the model"),
        ({"pooling": "max"}, r"encoder\.pooling is \"max\", but \"mean\" in the model"),
        ({"name": "bert"}, r"encoder\.name is \"bert\", but \".*encoder\" in the model"),
    ],
)
def test_other_word_vectors_are_refused_before_any_work(
    encoder: dict[str, Any], told: str, spans: Family, tmp_path: Path
) -> None:
    with pytest.raises(DisconerError, match=told):
        train(changed(spans.config, encoder=encoder), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_other_sizes_of_the_head_are_refused(spans: Family) -> None:
    config = changed(spans.config, head={"relations": {"hidden": [30]}})
    with pytest.raises(DisconerError, match=r"head\.relations\.hidden is \[30\], but \[150\] in the model") as error:
        first(config)
    assert "relations.first.weight 30 x" in str(error.value)
    assert "--set 'head.relations.hidden=[150]'" in str(error.value)


def test_no_such_model(spans: Family, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no such model"):
        train(changed(spans.config, training={"start_from": "not-there"}), tmp_path / "run")


def test_a_model_for_onnx_cannot_be_trained(spans: Family, tmp_path: Path) -> None:
    shutil.copytree(spans.given, tmp_path / "exported")
    (tmp_path / "exported" / "model.safetensors").rename(tmp_path / "exported" / "network.onnx")
    with pytest.raises(DisconerError, match="exported to ONNX"):
        train(changed(spans.config, training={"start_from": str(tmp_path / "exported")}), tmp_path / "run")


@pytest.mark.slow
def test_word_vectors_and_syntax(tmp_path: Path) -> None:
    """The words known are those of the model: its file of vectors is not needed."""
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {number} 1 0 {-number}\n" for number, word in enumerate((*PLACES, *DRUGS))))
    documents = [with_heads(document) for document in complaints(8)]
    base = prepare(tmp_path, documents, documents, epochs=1, **RATES)
    values = base.to_dict() | {"syntax": {"parser": "data", "gcn": {"blocks": 2, "size": 4}}}
    values |= {"encoder": {"kind": "vectors", "name": str(vectors), "context": 0}}
    given = load_model(train(config_from_dict(values), tmp_path / "given").folder)
    vectors.unlink()
    values["training"] |= {"start_from": str(tmp_path / "given")}
    model, notes = first(config_from_dict(values))
    assert_same_words(model, given)
    assert "encoder, BiLSTM, GCN" in notes[0]


# The run on disk, and other processes


def test_a_killed_run_goes_on_to_the_same_result(
    spans: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(spans.config, tmp_path / "unbroken")
    with monkeypatch.context() as context:
        context.setattr(Display, "measuring", dying_in_epoch(2))
        with pytest.raises(Killed):
            train(spans.config, tmp_path / "killed")
    shutil.copytree(spans.given, tmp_path / "moved")
    moved = changed(spans.config, training={"start_from": str(tmp_path / "moved")})
    train(moved, tmp_path / "killed", resume=True)  # the model may move, as data may
    assert_same_result(tmp_path / "killed", tmp_path / "unbroken")
    assert json.loads((tmp_path / "killed" / "run.json").read_text("utf-8"))["start_from"] == model_digest(spans.given)


@pytest.mark.parametrize("start", ["other", None])
def test_a_run_goes_on_from_the_same_model_only(start: str | None, spans: Family, tmp_path: Path) -> None:
    train(changed(spans.config, training={"epochs": 1}), tmp_path / "run")
    other = tmp_path / "other"
    shutil.copytree(spans.given, other)
    weights = other / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    config = changed(spans.config, training={"epochs": 1, "start_from": start and str(other)})
    with pytest.raises(DisconerError, match=r"content of training\.start_from \w+, not \w{8}"):
        train(config, tmp_path / "run", resume=True)


def test_figures_and_scores_do_not_make_another_model(spans: Family, tmp_path: Path) -> None:
    shutil.copytree(spans.given, tmp_path / "copy")
    description = json.loads((tmp_path / "copy" / "config.json").read_text("utf-8"))
    (tmp_path / "copy" / "config.json").write_text(json.dumps(description | {"figures": {}}))
    (tmp_path / "copy" / "README.md").unlink()
    assert model_digest(tmp_path / "copy") == model_digest(spans.given)
    (tmp_path / "copy" / "config.json").write_text(json.dumps(description | {"labels": ["A", "B"]}))
    assert model_digest(tmp_path / "copy") != model_digest(spans.given)


def test_processes_compare_the_model(spans: Family, tmp_path: Path) -> None:
    shutil.copytree(spans.given, tmp_path / "copy")
    other = changed(spans.config, training={"start_from": str(tmp_path / "copy")})
    here, there = (facts_of_all(config, run_facts(config, 2)) for config in (spans.config, other))
    assert here == there
    (tmp_path / "copy" / "tokenizer.json").write_text("{}")
    there = facts_of_all(other, run_facts(other, 2))
    (found,) = differences([("process 0", here), ("process 1", there)])
    assert found.startswith("content of training.start_from ")


# What it is for


@pytest.mark.slow
def test_a_bundled_model_starts_a_training_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    demo = demo_config(epochs=1)
    documents = read_data(demo.data)
    own = prepare(tmp_path, documents.train[:4], documents.train[4:8])
    start = config_from_dict(read_description(find_model("clinical-trials"))["config"])
    config = changed(
        demo.model_copy(update={"head": start.head, "encoder": start.encoder}),
        data={"train": own.data.train, "dev": own.data.dev},
        training={"start_from": "clinical-trials", "batch_tokens": 256, "precision": "fp32", "encoder_rate": 1e-6},
    )
    result = train(config, tmp_path / "run")  # hardly learnt anything: what it finds, the model it starts from found
    assert result.dev.overall.f1 > 0.5
    assert "starting from the model `clinical-trials`" in (result.folder / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_a_sister_task_is_learnt_in_fewer_steps(tmp_path: Path) -> None:
    """No label in common: what is taken over is what an entity looks like."""
    torch.manual_seed(1)  # of the encoder
    labels = {"ADR": "Effect", "Drug": "Medicine"}
    sister = prepare(tmp_path, complaints(80, seed=5), complaints(10, seed=6), epochs=20, patience=20, **RATES)
    train(sister, tmp_path / "sister")
    (tmp_path / "own").mkdir()
    task = renamed(complaints(40), labels), renamed(complaints(20, seed=2), labels)
    own = changed(prepare(tmp_path / "own", *task, epochs=8, **RATES), encoder=sister.to_dict()["encoder"])
    epochs = {}
    for start in (None, str(tmp_path / "sister")):
        out = tmp_path / f"from-{start is not None}"
        train(changed(own, training={"start_from": start}), out)
        records = map(json.loads, (out / "metrics.jsonl").read_text("utf-8").splitlines())
        reached = (epoch for epoch, record in zip(count(1), records) if record["dev_f1"] >= 0.8)
        epochs[start is not None] = next(reached, own.training.epochs + 1)
    assert epochs[True] <= 4
    assert epochs[False] > own.training.epochs  # never
