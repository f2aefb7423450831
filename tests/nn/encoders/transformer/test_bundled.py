"""Encoders that come along, and models that say how they differ from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from disconer import DisconerError
from disconer.adapt.model import load_pretrained
from disconer.config import EncoderConfig
from disconer.core.places import BUNDLED_ENCODERS, WEIGHTS
from disconer.export.compact import save_compact
from disconer.nn.encoders.transformer import bundled
from disconer.nn.encoders.transformer import pretrained as resolve
from disconer.nn.encoders.transformer.bundled import COMPACT_WEIGHTS, save_compact_encoder
from disconer.nn.encoders.transformer.pretrained import load_encoder, without_pooler
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, load_model
from nn.toy import toy_bert, toy_model, toy_tokenizer

NAME = "toy-encoder"
UNITS = 64


@pytest.fixture
def encoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of encoders that come along, with a small one in it."""
    folder = tmp_path / "encoders"
    save_compact_encoder(without_pooler(toy_bert(size=UNITS)), folder / NAME)
    toy_tokenizer().save_pretrained(folder / NAME)
    for module in (bundled, resolve):
        monkeypatch.setattr(module, "BUNDLED_ENCODERS", folder)
    return folder


def trained_from(encoder: torch.nn.Module, *, far: float) -> Model:
    """A model whose encoder is a little off the one that comes along: in all matrices, and in some rows of a table."""
    model = toy_model(encoder={"lstm": None, "name": NAME}, positions=64)
    transformer = model.network.words.encoder.transformer
    torch.manual_seed(5)
    with torch.no_grad():
        for name, weight in transformer.state_dict().items():
            weight.copy_(encoder.state_dict()[name])
            if "word_embeddings" in name:
                weight[3:9] += far * torch.randn(6, weight.shape[1])
            else:
                weight += far * torch.randn(weight.shape)
    return model


@pytest.fixture
def toy_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nn.toy.toy_bert", lambda **options: toy_bert(size=UNITS, **options))


def test_an_encoder_by_name(encoders: Path) -> None:
    transformer, tokenizer = load_encoder(NAME)
    original = without_pooler(toy_bert(size=UNITS)).state_dict()
    for name, weight in transformer.state_dict().items():
        assert weight.dtype == torch.float32
        torch.testing.assert_close(weight, original[name], rtol=0, atol=0.03 * original[name].abs().max().item())
    assert tokenizer.tokenize("ab") == ["a", "##b"]


def test_it_can_be_adapted(encoders: Path) -> None:
    (encoders / NAME / "tokenizer_config.json").unlink()
    tokenizer = toy_tokenizer()
    tokenizer.add_special_tokens({"mask_token": "[UNK]"})
    tokenizer.save_pretrained(encoders / NAME)
    pretrained = load_pretrained(NAME)
    assert pretrained.new_head
    expected = load_encoder(NAME)[0].state_dict()
    for name, weight in pretrained.language_model.base_model.state_dict().items():
        assert torch.equal(weight, expected[name])


@pytest.mark.usefixtures("toy_size")
def test_a_model_stores_what_training_changed(encoders: Path, tmp_path: Path) -> None:
    encoder, _ = load_encoder(NAME)
    model = trained_from(encoder, far=0.01)
    save_compact(model, tmp_path / "changed")
    whole = replace(model, config=model.config.model_copy(update={"encoder": EncoderConfig(name="unknown", lstm=None)}))
    save_compact(whole, tmp_path / "whole")
    sizes = [(tmp_path / name / WEIGHTS).stat().st_size for name in ("changed", "whole")]
    assert sizes[0] < 0.9 * sizes[1]  # most of this toy is its head

    loaded = load_model(tmp_path / "changed").network.state_dict()
    for name, weight in model.network.state_dict().items():
        if "transformer" in name and weight.ndim == 2:
            change = (weight - encoder.state_dict()[name.removeprefix("words.encoder.transformer.")]).abs().max().item()
            torch.testing.assert_close(loaded[name], weight, rtol=0, atol=max(change / 31, 2e-3))
    text = "pain and stiffness in my knees"
    assert Recognizer.from_pretrained(tmp_path / "changed")(text).text == text
    assert f"only the difference from the bundled `{NAME}`" in (tmp_path / "changed" / "README.md").read_text("utf-8")


@pytest.mark.usefixtures("toy_size")
def test_a_compact_encoder_elsewhere_does_not_come_along(encoders: Path, tmp_path: Path) -> None:
    """Its folder may be gone tomorrow, and says where on a machine it lay."""
    elsewhere = str((encoders / NAME).rename(tmp_path / "elsewhere"))
    model = trained_from(load_encoder(elsewhere)[0], far=0.01)
    named = replace(model, config=model.config.model_copy(update={"encoder": EncoderConfig(name=elsewhere, lstm=None)}))
    save_compact(named, tmp_path / "model")
    assert "only the change from" not in (tmp_path / "model" / "README.md").read_text("utf-8")


@pytest.mark.usefixtures("toy_size")
@pytest.mark.parametrize("gone", [True, False])
def test_another_encoder_of_that_name_is_refused(encoders: Path, tmp_path: Path, gone: bool) -> None:
    save_compact(trained_from(load_encoder(NAME)[0], far=0.01), tmp_path / "model")
    weights = encoders / NAME / COMPACT_WEIGHTS
    weights.unlink() if gone else weights.write_bytes(weights.read_bytes() + b" ")
    with pytest.raises(
        DisconerError, match=rf"differences from the bundled encoder '{NAME}'.*does not have.*save_pretrained"
    ):
        load_model(tmp_path / "model")


def test_the_default_encoder_comes_along() -> None:
    name = EncoderConfig().name
    assert (BUNDLED_ENCODERS / name / COMPACT_WEIGHTS).is_file()
    transformer, tokenizer = load_encoder(name)
    assert transformer.config.hidden_size == 384
    assert tokenizer.mask_token == "[MASK]"
    assert all(weight.dtype == torch.float32 for weight in transformer.state_dict().values())
