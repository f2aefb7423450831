from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from disconer import DisconerError, Document
from disconer.evaluate import evaluate
from disconer.nn import weights
from disconer.nn.encoders import transformer
from disconer.nn.encoders.transformer import SubwordTokenizer
from disconer.nn.encoders.transformer.pretrained import without_pooler
from disconer.nn.network import build_network
from disconer.nn.scores import UNSCALED
from disconer.predict.recognizer import Recognizer
from disconer.store import description as model_description
from disconer.store.checkpoint import FORMAT_VERSION, Model, load_model, record_measures, save_model
from disconer.store.graphs import UNKNOWN, StoredGraph, StoredGraphs, read_graphs, write_graphs
from disconer.text import segment
from nn.families import ENCODERS, TOKENIZERS, tiny_encoder
from nn.toy import lively, toy_config, toy_model, words_of

TEXT = "Pain and stiffness in my knees, after 5 mg aspirin. No fever."
FILES = {"README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    save_model(lively(toy_model()), folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of a saved model, to be damaged."""
    for path in saved.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def description(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "config.json").read_text("utf-8"))


def describe(folder: Path, **changes: Any) -> None:
    (folder / "config.json").write_text(json.dumps(description(folder) | changes), "utf-8")


def test_what_is_loaded_is_what_was_saved(saved: Path) -> None:
    model, loaded = lively(toy_model()), load_model(saved)
    assert (loaded.labels, loaded.config, loaded.max_subwords) == (model.labels, model.config, model.max_subwords)
    assert Recognizer(loaded)(TEXT) == Recognizer(model)(TEXT)
    assert len(Recognizer(model)(TEXT).entities) > 5
    assert not loaded.network.training


def test_saved_again_it_is_the_same(saved: Path, tmp_path: Path) -> None:
    save_model(load_model(saved), tmp_path)
    for name in ("README.md", "model.safetensors", "tokenizer.json"):
        assert (tmp_path / name).read_bytes() == (saved / name).read_bytes()


def test_what_8_bits_cost_is_saved_again(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    run = {"f1": 0.5, "seconds": 1.0}
    describe(folder, int8={"source": "dev", "documents": 2, "same": 1, "before": run, "after": run})
    again = tmp_path_factory.mktemp("again")
    save_model(load_model(folder), again)
    assert description(again)["int8"] == description(folder)["int8"]


def test_graphs_of_a_model_that_was_here_before_are_not_taken_for_its_own(folder: Path) -> None:
    write_graphs(folder, StoredGraphs({"network": StoredGraph(b"", {}, {}, {}, {})}, None, 0))
    save_model(toy_model(), folder)
    assert read_graphs(folder) is UNKNOWN
    assert not list(folder.rglob("*.onnx"))


def test_the_files_of_a_model(saved: Path) -> None:
    assert {path.name for path in saved.iterdir()} == FILES
    for path in saved.iterdir():
        with pytest.raises((pickle.UnpicklingError, KeyError, EOFError, ValueError, AttributeError)):
            pickle.loads(path.read_bytes())


def test_nothing_is_unpickled_and_nothing_imported_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("loading a model unpickled something")

    for module, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (torch, "load")):
        monkeypatch.setattr(module, name, refuse)
    (folder / "evil.py").write_text("raise AssertionError('loading a model ran its code')")
    remote = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model", "AutoTokenizer": ["evil.Slow", "evil.Fast"]}
    describe(folder, encoder=description(folder)["encoder"] | {"auto_map": remote})
    tokenizer = folder / "tokenizer_config.json"
    tokenizer.write_text(json.dumps(json.loads(tokenizer.read_text()) | {"auto_map": remote}))
    assert load_model(folder).labels == ("ADR", "Drug")
    assert "evil" not in sys.modules


def test_the_place_where_it_was_made_is_not_told(tmp_path: Path) -> None:
    model = toy_model()
    model.network.words.encoder.transformer.config._name_or_path = str(tmp_path)
    save_model(model, tmp_path)
    for path in tmp_path.iterdir():
        assert str(tmp_path).encode() not in path.read_bytes()


@pytest.mark.parametrize("family", TOKENIZERS)
def test_tokenizers_come_back(family: str, tmp_path: Path) -> None:
    config, tokenizer = toy_config(), SubwordTokenizer(TOKENIZERS[family]())
    network = build_network(config, ("ADR",), words_of(without_pooler(tiny_encoder("bert")), config))
    save_model(Model(network, tokenizer, config, ("ADR",)), tmp_path)
    loaded = load_model(tmp_path).reader
    text = "Naïve KNEES 🚀 <s> [CLS] <pad> 5 mg/kg\u00a0x e\u0301"
    sentences = segment(Document("d", text)).sentences
    assert (*loaded.prefix, *loaded.suffix) == (*tokenizer.prefix, *tokenizer.suffix)
    assert loaded.padding == tokenizer.padding
    assert [own.ids.tolist() for own in loaded(text, sentences)] == [
        own.ids.tolist() for own in tokenizer(text, sentences)
    ]


@pytest.mark.parametrize("family", ENCODERS)
def test_encoders_come_back(family: str, tmp_path: Path) -> None:
    config = toy_config()
    network = build_network(config, ("ADR",), words_of(without_pooler(tiny_encoder(family)), config))
    save_model(Model(network, toy_model().reader, config, ("ADR",)), tmp_path)
    loaded = load_model(tmp_path).network.state_dict()
    assert loaded.keys() == network.state_dict().keys()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in network.state_dict().items())


@pytest.mark.parametrize("moment", range(1, 7))
def test_killed_while_saving_over_an_older_model(folder: Path, moment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = moment

    def replace_file(path: Path, data: bytes) -> None:
        nonlocal left
        left -= 1
        if not left:
            path.with_name(f".{path.name}.part").write_bytes(data[: len(data) // 2])
            raise KeyboardInterrupt
        original(path, data)

    original: Callable[[Path, bytes], None] = weights.replace_file
    for module in (weights, model_description, transformer):
        monkeypatch.setattr(module, "replace_file", replace_file)
    try:
        save_model(lively(toy_model(), seed=7), folder)
    except KeyboardInterrupt:
        assert moment <= len(FILES)
    else:
        assert moment > len(FILES)
    assert len(Recognizer(load_model(folder))(TEXT).entities) > 0


def test_figures_are_added_beside_the_weights(folder: Path) -> None:
    weights = (folder / "model.safetensors").stat().st_mtime_ns
    gold = [Recognizer(load_model(folder))(TEXT)]
    record_measures(folder, UNSCALED, {"dev": evaluate(gold, gold).to_dict()})
    record_measures(folder, UNSCALED, {"test": evaluate(gold, gold).to_dict()})
    figures = load_model(folder).figures
    assert {split: measured["overall"]["f1"] for split, measured in figures.items()} == {"dev": 1.0, "test": 1.0}
    assert (folder / "model.safetensors").stat().st_mtime_ns == weights
    assert "| test | all |" in (folder / "README.md").read_text("utf-8")


# What people meet when a model was not copied whole, or is none


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", "There is no model here"),
        ("model.safetensors", "model.safetensors: The weights of this model are missing"),
        ("tokenizer.json", "tokenizer.json: The tokenizer of this model is missing or damaged"),
    ],
)
def test_missing_files(folder: Path, name: str, message: str) -> None:
    (folder / name).unlink()
    with pytest.raises(DisconerError, match=message):
        load_model(folder)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", "configuration of this model is damaged"),
        ("model.safetensors", "weights of this model are damaged"),
        ("tokenizer.json", "tokenizer of this model is missing or damaged"),
    ],
)
def test_truncated_files(folder: Path, name: str, message: str, share: float) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: int(share * len(data))])
    with pytest.raises(DisconerError, match=message):
        load_model(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("noise", [b"\xff" * 5000, b"\x00" * 5000, b"[]", b"null", b"{}", b"version https://git-lfs"])
def test_files_that_are_something_else(folder: Path, name: str, noise: bytes) -> None:
    (folder / name).write_bytes(noise)
    with pytest.raises(DisconerError) as caught:
        load_model(folder)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", ["labels", "config", "encoder"])
@pytest.mark.parametrize("value", [None, 3, [], [1], {}, "x"])
def test_parts_of_the_configuration_that_are_not_ours(folder: Path, part: str, value: object) -> None:
    describe(folder, **{part: value})
    with pytest.raises(DisconerError, match=r"config\.json"):
        load_model(folder)


def test_a_model_trained_with_a_dropout_that_did_nothing(folder: Path) -> None:
    config = description(folder)["config"]
    config["encoder"]["lstm"] |= {"layers": 1, "dropout": 0.3}
    describe(folder, config=config)
    assert load_model(folder).config == toy_model().config


def test_another_version(folder: Path) -> None:
    describe(folder, format=FORMAT_VERSION + 1, disconer="9.0")
    with pytest.raises(DisconerError, match=r"written by another version.*format 3 of disconer 9\.0.*Install"):
        load_model(folder)


def test_labels_that_do_not_fit_the_weights(folder: Path) -> None:
    describe(folder, labels=["ADR"])
    with pytest.raises(DisconerError, match=r"damaged or belong to another model.*size mismatch"):
        load_model(folder)


def test_an_encoder_that_this_transformers_does_not_know(folder: Path) -> None:
    describe(folder, encoder=description(folder)["encoder"] | {"model_type": "bert-of-the-future"})
    with pytest.raises(DisconerError, match=r"encoder of this model cannot be built.*bert-of-the-future"):
        load_model(folder)


def test_a_plain_encoder_is_told_from_a_model(tmp_path: Path) -> None:
    without_pooler(tiny_encoder("bert")).save_pretrained(tmp_path)
    with pytest.raises(DisconerError, match=r"plain Hugging Face model \(bert\), not a disconer model.*encoder\.name"):
        load_model(tmp_path)


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("hello")
    with pytest.raises(DisconerError, match="There is no model here"):
        load_model(tmp_path / "model")
