"""Labels that are only learned from (`data.labels`): trained, then left out of the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from annotated import annotated
from disconer import DisconerError, Document, Recognizer
from disconer.config import Config, config_from_dict
from disconer.config.section import head_settings
from disconer.nn.heads.grid.head import GridHead
from disconer.nn.heads.kind import kind_of
from disconer.nn.scores import UNSCALED
from disconer.store.checkpoint import Model, load_model
from disconer.store.description import read_description
from disconer.training import train
from disconer.training.data import TrainingData, read_data
from disconer.training.display import Display
from disconer.training.predicted import predicted_model
from disconer.training.training_run import first_model
from training.synthetic import complaints, prepare
from training.test_resume import Killed, dying_in_epoch

QUIET = Display(quiet=True)
RATES = {"encoder_rate": 1e-3, "head_rate": 3e-3, "adversarial": 0.0}
HEADS: list[dict[str, Any]] = [
    {"kind": "grid"},
    {"kind": "hypergraph"},
    {"kind": "span"},
    {"kind": "tagger"},
    {"kind": "tagger", "scheme": "multilabel"},
    {"kind": "transition"},
    {"kind": "sequence"},
    {"kind": "combined"},
]


LABELS = ("ADR", "Dose", "Drug", "Finding")


def apart(head: dict[str, Any]) -> bool:
    settings = head_settings(head)
    return kind_of(settings).scores_labels_apart(settings)


def only(config: Config, *labels: str, **head: Any) -> Config:
    """The configuration of a training that predicts these labels."""
    values = config.to_dict()
    values["data"]["labels"] = labels
    return config_from_dict(values | ({"head": head} if head else {}))


def all_data(config: Config) -> TrainingData:
    return read_data(config.data, learn_others=True)


def labels_of(documents: list[Document]) -> set[str]:
    return {entity.label for document in documents for entity in document.entities}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    documents = complaints(40)
    return prepare(tmp_path, documents, documents[:12], epochs=2, **RATES)


def test_training_keeps_all_entities_and_dev_those_to_be_predicted(config: Config) -> None:
    data = all_data(only(config, "ADR"))
    assert (data.labels, data.others, data.left_out, data.learned) == (("ADR",), ("Drug",), (), ("ADR", "Drug"))
    assert labels_of(data.train) == {"ADR", "Drug"}
    assert labels_of(data.dev) == {"ADR"}
    everything = all_data(config)
    assert (everything.labels, everything.others) == (("ADR", "Drug"), ())
    assert labels_of(everything.dev) == {"ADR", "Drug"}


def test_what_a_head_cannot_learn_from_is_left_out(config: Config) -> None:
    data = read_data(only(config, "ADR").data, learn_others=False)
    assert (data.labels, data.others, data.left_out, data.learned) == (("ADR",), (), ("Drug",), ("ADR",))
    assert labels_of(data.train) == labels_of(data.dev) == {"ADR"}


def test_labels_to_predict_that_the_training_data_lacks_are_said(
    config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    data = all_data(only(config, "ADR", "Drgu"))
    assert (data.labels, data.absent) == (("ADR",), ("Drgu",))
    Display().data(data)
    assert "warning: labels to predict that no training entity has: Drgu" in capsys.readouterr().err


def test_if_the_training_data_lacks_all_of_them_it_is_an_error(config: Config) -> None:
    with pytest.raises(DisconerError) as error:
        all_data(only(config, "adr"))
    assert "ADR, Drug" in str(error.value)
    assert "data.labels" in str(error.value)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: "-".join(head.values()))
@pytest.mark.parametrize("kept", [("Drug",), ("Dose", "Drug"), ("ADR", "Finding")], ids="-".join)
def test_every_head_without_some_labels_has_the_weights_of_the_others(
    config: Config, head: dict[str, Any], kept: tuple[str, ...]
) -> None:
    chosen = only(config, *kept, **head)
    model, _ = first_model(chosen, replace(all_data(config), labels=LABELS))
    given = model.network.head
    torch.nn.init.normal_(next(given.parameters()))
    predicted = predicted_model(model, kept)
    weights = predicted.weights(model.network.state_dict())
    smaller = predicted.take(model.network.state_dict())
    assert smaller.labels == kept
    names, fewer = given.axis_names(), smaller.network.head.axis_names()
    for name, tensor in smaller.network.state_dict().items():
        assert torch.equal(tensor, weights[name])
        learned = model.network.state_dict()[name]
        for axis, kept_names in fewer.get(name.removeprefix("head."), {}).items():
            own = list(names[name.removeprefix("head.")][axis])
            learned = torch.stack([learned.select(axis, own.index(one)) for one in kept_names], axis)
        assert torch.equal(tensor, learned), name
    assert sum(map(torch.numel, weights.values())) < sum(map(torch.numel, model.network.state_dict().values()))


def test_nothing_is_left_out_if_all_labels_are_predicted(config: Config) -> None:
    model, _ = first_model(config, all_data(config))
    same = predicted_model(model, model.labels)
    assert same.model is model
    learned = model.network.state_dict()
    weights = same.weights(learned)
    assert weights.keys() == learned.keys()
    assert all(torch.equal(tensor, learned[name]) for name, tensor in weights.items())


def test_a_head_that_does_not_name_what_depends_on_labels_is_refused(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = GridHead.axis_names
    monkeypatch.setattr(
        GridHead, "axis_names", lambda head: {name: axes for name, axes in names(head).items() if "bias" not in name}
    )
    chosen = only(config, "ADR", kind="grid")
    model, _ = first_model(chosen, all_data(chosen))
    with pytest.raises(DisconerError, match=r"do not say how head\.grid\.output\.bias depends on labels"):
        predicted_model(model, ("ADR",))


@pytest.mark.slow
@pytest.mark.parametrize("head", [one for one in HEADS if apart(one)], ids=lambda head: "-".join(head.values()))
def test_a_model_finds_what_the_trained_network_found_of_its_labels(tmp_path: Path, head: dict[str, Any]) -> None:
    documents = complaints(80)
    config = only(prepare(tmp_path, documents, documents[:20], epochs=24, **RATES), "ADR", **head)
    result = train(config, tmp_path / "run", display=QUIET)
    assert read_description(tmp_path / "run" / "best")["labels"] == ["ADR"]
    state = torch.load(tmp_path / "run" / "training.pt", weights_only=True)
    everything, _ = first_model(config, all_data(config))
    everything.network.load_state_dict(state["network"])
    last = load_model(tmp_path / "run" / "last")
    assert last.labels == ("ADR",)
    texts = [document.text for document in documents]
    found = _found(last, texts)
    assert found == [{one for one in entities if one[0] == "ADR"} for entities in _found(everything, texts)]
    assert any(found)
    measured = [json.loads(line)["dev_f1"] for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert result.dev.overall.f1 == max(measured) > 0.2  # what is saved is what was measured


def _found(model: Model, texts: list[str]) -> list[set[tuple[str, Any]]]:
    ner = Recognizer(replace(model, scale=UNSCALED), device="cpu")
    return [{(entity.label, entity.fragments) for entity in document.entities} for document in ner.pipe(texts)]


@pytest.mark.slow
def test_a_killed_run_goes_on_to_learn_all_labels(config: Config, tmp_path: Path) -> None:
    chosen = only(config, "ADR", kind="grid")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Display, "measuring", dying_in_epoch(2))
        with pytest.raises(Killed):
            train(chosen, tmp_path / "killed", display=QUIET)
    train(chosen, tmp_path / "killed", resume=True, display=QUIET)
    train(chosen, tmp_path / "whole", display=QUIET)
    one, other = (load_model(tmp_path / name / "last").network.state_dict() for name in ("killed", "whole"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_is_only_learned_from_is_said(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    Display().data(all_data(only(config, "ADR")))
    assert "learned from, but not predicted (data.labels): Drug" in capsys.readouterr().err


@pytest.mark.slow
def test_a_head_whose_labels_compete_is_trained_without_the_others(config: Config, tmp_path: Path) -> None:
    result = train(only(config, "Drug", kind="tagger"), tmp_path / "run", display=QUIET)
    measured = [json.loads(line)["dev_f1"] for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert result.dev.overall.f1 == max(measured)
    assert load_model(tmp_path / "run" / "last").labels == ("Drug",)
    assert {name: one.shape for name, one in load_model(tmp_path / "run" / "last").network.state_dict().items()} == {
        name: one.shape
        for name, one in torch.load(tmp_path / "run" / "training.pt", weights_only=True)["network"].items()
    }


def test_kinds_whose_labels_are_apart() -> None:
    assert [list(head.values()) for head in HEADS if apart(head)] == [
        ["grid"],
        ["hypergraph"],
        ["tagger", "multilabel"],
    ]


@pytest.mark.slow
def test_entities_that_are_only_learned_from_do_not_make_a_run_worth_starting(tmp_path: Path) -> None:
    """Those to predict all cross sentences."""
    documents = [
        annotated("Drug: lipitor", "ADR: pain. In my knees", text="lipitor for pain. In my knees.", id=str(number))
        for number in range(4)
    ]
    config = only(prepare(tmp_path, documents, documents, epochs=1, **RATES), "ADR", kind="grid")
    with pytest.raises(DisconerError, match="None of 4 training entities can be learned"):
        train(config, tmp_path / "run", display=QUIET)
