"""Configurations that start from a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from disconer import DisconerError, write
from disconer.cli import app
from disconer.cli.init import init
from disconer.config import load_config
from disconer.store.names import description_of
from disconer.training.start_from import check_start
from training.synthetic import complaints

MODEL = "clinical-trials"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(complaints(30), tmp_path / "a.jsonl")
    return tmp_path / "a.jsonl"


def test_init_takes_from_the_model_what_must_be_the_same(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "config.yaml"
    result = CliRunner().invoke(app, ["init", str(data), "--start-from", MODEL, "--preset", "cadec", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert f"Training starts from {MODEL} (encoder biomedical-minilm); its head, of kind grid, is not" in result.output
    config = load_config(out)
    assert config.training.start_from == MODEL
    given = description_of(MODEL)["config"]
    assert (config.to_dict()["encoder"], config.to_dict()["syntax"]) == (given["encoder"], given["syntax"])
    assert config.head.kind == load_config("cadec").head.kind == "span"
    assert config.training.encoder_rate == load_config("cadec").training.encoder_rate
    check_start(config, MODEL)
    assert f"Training starts from {MODEL}" in out.read_text("utf-8").partition("\n\n")[0]


def test_labels_of_the_same_name_are_taken_over(data: Path, tmp_path: Path) -> None:
    lines = init(data, tmp_path / "config.yaml", preset="phee", start_from=MODEL)
    assert lines[-1] == f"Training starts from {MODEL} (encoder biomedical-minilm); labels reused: Drug."
    config = load_config(tmp_path / "config.yaml")
    assert config.training.epochs == load_config("phee").training.epochs
    check_start(config, MODEL)


def test_init_with_another_head(data: Path, tmp_path: Path) -> None:
    lines = init(data, tmp_path / "config.yaml", head="tagger", start_from=MODEL)
    assert lines[-1] == (
        f"Training starts from {MODEL} (encoder biomedical-minilm); its head, of kind grid, is not reused."
    )
    config = load_config(tmp_path / "config.yaml")
    assert config.head.kind == "tagger"
    check_start(config, MODEL)


def test_a_preset_on_another_encoder_needs_that_of_the_model() -> None:
    with pytest.raises(DisconerError, match=r"encoder\.name is \".*BERT\", but \"biomedical-minilm\" in the model"):
        check_start(load_config("cadec", [f"training.start_from={MODEL}"]), MODEL)
    with pytest.raises(DisconerError, match=r"encoder\.layers is \"last\", but 4 in the model"):
        check_start(load_config("chia", [f"training.start_from={MODEL}", "encoder.layers=last"]), MODEL)
    check_start(load_config("chia", [f"training.start_from={MODEL}"]), MODEL)


def test_small_data_does_not_get_the_rates_that_a_preset_has_for_its_large_batches(data: Path, tmp_path: Path) -> None:
    init(data, tmp_path / "config.yaml", preset="phee")
    settings, preset = load_config(tmp_path / "config.yaml").training, load_config("phee").training
    assert settings.batch_tokens == 128 < preset.batch_tokens
    assert (preset.head_rate, preset.adversarial) == (2e-3, 2.0)
    assert (settings.head_rate, settings.adversarial) == (1e-3, 1.0)
    init(data, tmp_path / "cadec.yaml", preset="cadec")
    assert load_config(tmp_path / "cadec.yaml").training.adversarial == 0.0  # lower ones stay


def test_large_data_keeps_them(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disconer.start.propose.STEPS", 0)  # any data is large
    init(data, tmp_path / "config.yaml", preset="phee")
    settings, preset = load_config(tmp_path / "config.yaml").training, load_config("phee").training
    assert settings.batch_tokens == preset.batch_tokens
    assert (settings.head_rate, settings.adversarial) == (preset.head_rate, preset.adversarial)


def test_an_unknown_model_is_told_before_anything_is_written(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no such model"):
        init(data, tmp_path / "config.yaml", start_from="not-there")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
