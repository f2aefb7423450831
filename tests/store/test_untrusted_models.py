"""A model is data from someone else: its files decide about no address, no path elsewhere, no code, no memory."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disconer import DisconerError, Recognizer
from disconer.config import EncoderConfig
from disconer.core.places import BUNDLED_MODELS, CONFIG
from disconer.nn.encoders.transformer import TOKENIZER
from disconer.nn.encoders.transformer.encoder import load_transformer_encoding
from disconer.nn.encoders.transformer.pretrained import TOKENIZER_CONFIG
from disconer.nn.heads.grid.graph_reader import neighbours
from disconer.nn.runtime import RuntimeName
from disconer.store.checkpoint import load_model, save_model
from disconer.store.description import read_description
from disconer.store.names import DEFAULT
from disconer.store.weights import ModelWeights
from nn.toy import toy_bert, toy_model, toy_tokenizer


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def saved(folder: Path, parser: str) -> Path:
    save_model(toy_model(syntax={"parser": parser, "gcn": {}}), folder)
    return folder


def change(path: Path, *keys: str, value: Any) -> None:
    content = part = json.loads(path.read_text())
    for key in keys[:-1]:
        part = part.setdefault(key, {})
    part[keys[-1]] = value
    path.write_text(json.dumps(content))


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("parser", "danger"),
    [
        ("corenlp:http://collector.example:9000", "sends every text to that address"),
        ("conllu:/etc/passwd", "reads files outside"),
        ("conllu:parses.conllu", "reads files outside"),
        ("spacy:/srv/pipelines/mine", "reads files outside"),
        ("spacy:../mine", "reads files outside"),
        ("stanza:../../evil", "reads files outside"),
    ],
)
def test_a_model_cannot_choose_where_texts_go_or_which_files_are_read(tmp_path: Path, parser: str, danger: str) -> None:
    folder = saved(tmp_path / "model", parser)
    with pytest.raises(DisconerError, match=danger) as caught:
        Recognizer.from_pretrained(folder)
    assert parser in str(caught.value)
    assert "--parser" in str(caught.value)
    assert Recognizer.from_pretrained(folder, parser="none")("some pain").text == "some pain"


def test_a_folder_with_the_name_of_a_pipeline_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "en_some_pipeline").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DisconerError, match="reads files outside"):
        Recognizer.from_pretrained(saved(tmp_path / "model", "spacy:en_some_pipeline"))


def test_what_the_user_asks_for_is_used(tmp_path: Path) -> None:
    trees = tmp_path / "a.conllu"
    trees.write_text("1\tsome\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tpain\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    folder = saved(tmp_path / "model", "corenlp:http://collector.example:9000")
    found = Recognizer.from_pretrained(folder, parser=f"conllu:{trees}")("some pain")
    assert [sentence.heads for sentence in found.sentences or ()] == [(1, -1)]


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attn_implementation", "kernels-community/evil"),
        ("_attn_implementation", "someone/evil:kernel"),
        ("backbone", "resnet50"),
        ("quantization_config", {"quant_method": "awq"}),
        ("hidden_act", "/etc/passwd"),
    ],
)
def test_an_encoder_cannot_name_code_or_files(tmp_path: Path, name: str, value: Any) -> None:
    save_model(toy_model(), tmp_path)
    change(tmp_path / CONFIG, "encoder", name, value=value)
    with pytest.raises(DisconerError, match="names code or files elsewhere"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["tokenizer_file", "vocab_file", "fast_tokenizer_files"])
def test_a_tokenizer_cannot_name_other_files(tmp_path: Path, name: str) -> None:
    save_model(toy_model(), tmp_path)
    change(tmp_path / TOKENIZER_CONFIG, name, value="/etc/passwd")
    with pytest.raises(DisconerError, match=rf"tokenizer_config.*names code or files elsewhere: {name}"):
        load_model(tmp_path)


@pytest.mark.skipif(not BUNDLED_MODELS.is_dir(), reason="models are not in this checkout: see recipes/README.md")
@pytest.mark.parametrize("runtime", ["onnx", "torch"])
@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (
            ("normalizer",),
            {
                "type": "Sequence",
                "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}] * 9,
            },
            "can make a text 1,000,000,000 times as long",
        ),
        (("model", "vocab", "il"), 10**9, "a subword of id 1,000,000,000, expected ids below 37,528"),
    ],
)
def test_a_tokenizer_takes_no_memory_without_end(
    tmp_path: Path, runtime: RuntimeName, keys: tuple[str, ...], value: Any, message: str
) -> None:
    shutil.copytree(BUNDLED_MODELS / DEFAULT, tmp_path, dirs_exist_ok=True)
    change(tmp_path / TOKENIZER, *keys, value=value)
    with pytest.raises(DisconerError, match=message):
        Recognizer.from_pretrained(tmp_path, runtime=runtime)("aaa IL-2")


@pytest.mark.skipif(not BUNDLED_MODELS.is_dir(), reason="models are not in this checkout: see recipes/README.md")
def test_a_wrong_size_of_the_vocabulary_is_one_message(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(BUNDLED_MODELS / DEFAULT, tmp_path, dirs_exist_ok=True)
    change(tmp_path / TOKENIZER, "model", "vocab", "il", value=10**9)
    change(tmp_path / CONFIG, "encoder", "vocab_size", value=10**10)
    with pytest.raises(DisconerError, match="The configuration of this model does not fit its network"):
        Recognizer.from_pretrained(tmp_path, runtime="onnx")("aaa IL-2")
    assert capfd.readouterr() == ("", "")  # nothing of ONNX Runtime's own


def test_other_files_of_a_tokenizer_add_no_unknown_subwords(tmp_path: Path) -> None:
    save_model(toy_model(), tmp_path)
    change(tmp_path / TOKENIZER_CONFIG, "extra_special_tokens", value=[f"<{n}>" for n in range(20)])
    with pytest.raises(DisconerError, match="expected ids below 100, the size of the encoder's vocabulary"):
        load_model(tmp_path)


def test_an_encoder_whose_models_would_be_refused_is_not_trained(tmp_path: Path) -> None:
    toy_bert().save_pretrained(tmp_path)
    toy_tokenizer().save_pretrained(tmp_path)
    load_transformer_encoding(EncoderConfig(name=str(tmp_path)))
    change(tmp_path / TOKENIZER, "normalizer", value={"type": "Prepend", "prepend": "a" * 99})
    with pytest.raises(DisconerError, match="can make a text 100 times as long"):
        load_transformer_encoding(EncoderConfig(name=str(tmp_path)))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("encoder", "vocab_size"), 2**40),
        (("encoder", "hidden_size"), 2**30),
        (("encoder", "num_hidden_layers"), 10**6),
        (("encoder", "intermediate_size"), 10**9),
        (("config", "encoder", "lstm"), {"size": 2**27}),
        (("config", "encoder", "lstm"), {"layers": 10**7}),
        (("config", "syntax"), {"parser": "data", "gcn": {"size": 2**28}}),
        (("config", "syntax"), {"parser": "data", "gcn": {"heads": 10**8}}),
    ],
)
def test_sizes_that_the_weights_do_not_fill_are_refused_before_memory_is_taken(
    tmp_path: Path, keys: tuple[str, ...], value: Any
) -> None:
    save_model(toy_model(), tmp_path)
    change(tmp_path / CONFIG, *keys, value=value)
    with pytest.raises(
        DisconerError, match=r"a larger network than its weights file contains.*by the size of model\.safetensors"
    ):
        load_model(tmp_path)


@pytest.mark.skipif(not BUNDLED_MODELS.is_dir(), reason="models are not in this checkout: see recipes/README.md")
@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("config", "head", "dilations"), [1, 2, 3, 4], "The configuration of this model does not fit its network"),
        (("config", "head", "dilations"), [1] * 1000, "expected a list of at most 32 whole numbers from 1"),
        (("labels",), ["Drug", "Person"], "The labels of this model are not those of its network"),
        (("labels",), ["Drug"] * 5, "'Drug' occurs 5 times in 'labels'"),
    ],
)
def test_a_configuration_of_another_network_is_named(
    tmp_path: Path, keys: tuple[str, ...], value: Any, message: str
) -> None:
    shutil.copytree(BUNDLED_MODELS / DEFAULT, tmp_path, dirs_exist_ok=True)
    change(tmp_path / CONFIG, *keys, value=value)
    with pytest.raises(DisconerError, match=message):
        Recognizer.from_pretrained(tmp_path, runtime="onnx")("Father had hepatic and adrenal insufficiency.")


def test_a_dilation_takes_no_more_memory_than_the_grid() -> None:
    places = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 1, 0])
    wide, wider = (neighbours(*places, np.array([dilation])) for dilation in (2, 10**12))
    np.testing.assert_array_equal(wide, wider)


@pytest.mark.parametrize("base", ["../encoders/biomedical-minilm", "/etc", "..", "."])
def test_differences_are_only_from_bundled_encoders(tmp_path: Path, base: str) -> None:
    save_model(toy_model(), tmp_path)
    change(tmp_path / CONFIG, "compact", value={"base": base, "base_digest": "0"})
    with pytest.raises(DisconerError, match="which this disconer does not have"):
        load_model(tmp_path)


@pytest.mark.parametrize("value", [{"colour": "red"}, None])
def test_a_damaged_description_of_a_compact_model(tmp_path: Path, value: object) -> None:
    save_model(toy_model(), tmp_path)
    change(tmp_path / CONFIG, "compact", value=value)
    with pytest.raises(DisconerError, match="'compact' is missing or invalid"):
        load_model(tmp_path)
    with pytest.raises(DisconerError, match="'compact' is missing or invalid"):
        ModelWeights(tmp_path, read_description(tmp_path))
