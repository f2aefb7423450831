"""Labels that are only learned from (`data.labels`): trained, then left out of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from disconer import DisconerError, Document, Recognizer
from disconer.config import Config, config_from_dict
from disconer.nn.network import build_network
from disconer.nn.scores import UNSCALED
from disconer.store.checkpoint import Model, load_model
from disconer.store.description import read_description
from disconer.training import train
from disconer.training.data import read_data
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


def only(config: Config, *labels: str, **head: Any) -> Config:
    """The configuration of a training that predicts these labels."""
    values = config.to_dict()
    values["data"]["labels"] = labels
    return config_from_dict(values | ({"head": head} if head else {}))


def labels_of(documents: list[Document]) -> set[str]:
    return {entity.label for document in documents for entity in document.entities}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    documents = complaints(40)
    return prepare(tmp_path, documents, documents[:12], epochs=2, **RATES)


def test_training_keeps_all_entities_and_dev_those_to_be_predicted(config: Config) -> None:
    data = read_data(only(config, "ADR").data)
    assert (data.labels, data.others, data.learned) == (("ADR",), ("Drug",), ("ADR", "Drug"))
    assert labels_of(data.train) == {"ADR", "Drug"}
    assert labels_of(data.dev) == {"ADR"}
    everything = read_data(config.data)
    assert (everything.labels, everything.others) == (("ADR", "Drug"), ())
    assert labels_of(everything.dev) == {"ADR", "Drug"}


def test_a_label_that_the_training_data_lacks_is_no_error_if_it_has_another(config: Config) -> None:
    assert read_data(only(config, "ADR", "Finding").data).labels == ("ADR",)


def test_labels_that_the_training_data_lacks_are_named(config: Config) -> None:
    with pytest.raises(DisconerError) as error:
        read_data(only(config, "adr").data)
    assert "ADR, Drug" in str(error.value)
    assert "data.labels" in str(error.value)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: "-".join(head.values()))
def test_the_smaller_model_of_every_head_has_the_weights_of_its_labels(config: Config, head: dict[str, Any]) -> None:
    chosen = only(config, "ADR", **head)
    model, _ = first_model(chosen, read_data(chosen.data))
    assert model.labels == ("ADR", "Drug")
    smaller = predicted_model(model, ("ADR",))
    assert smaller.model.labels == ("ADR",)
    weights = smaller.weights(model.network.state_dict())
    network = build_network(chosen, ("ADR",), model.network.words.encoder)
    network.load_state_dict(weights)  # every name and every shape fits
    assert sum(map(torch.numel, weights.values())) < sum(map(torch.numel, model.network.state_dict().values()))


def test_nothing_is_left_out_if_all_labels_are_predicted(config: Config) -> None:
    model, _ = first_model(config, read_data(config.data))
    same = predicted_model(model, model.labels)
    assert same.model is model
    learned = model.network.state_dict()
    weights = same.weights(learned)
    assert weights.keys() == learned.keys()
    assert all(torch.equal(tensor, learned[name]) for name, tensor in weights.items())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grid", "hypergraph"])
def test_a_model_finds_what_the_trained_network_found_of_its_labels(tmp_path: Path, kind: str) -> None:
    documents = complaints(80)
    config = only(prepare(tmp_path, documents, documents[:20], epochs=8, **RATES), "ADR", kind=kind)
    result = train(config, tmp_path / "run", display=QUIET)
    assert read_description(tmp_path / "run" / "best")["labels"] == ["ADR"]
    state = torch.load(tmp_path / "run" / "training.pt", weights_only=True)
    everything, _ = first_model(config, read_data(config.data))
    everything.network.load_state_dict(state["network"])
    last = load_model(tmp_path / "run" / "last")
    assert last.labels == ("ADR",)
    texts = [document.text for document in documents]
    found = _found(last, texts)
    assert found == [{one for one in entities if one[0] == "ADR"} for entities in _found(everything, texts)]
    assert any(found)
    assert result.dev.overall.f1 > 0.2  # of the entities that are to be predicted


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
    Display().data(read_data(only(config, "ADR").data))
    assert "learned from, but not predicted (data.labels): Drug" in capsys.readouterr().err
