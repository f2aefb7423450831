"""Paths in a configuration file are relative to that file, wherever a command is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer import Document, Entity, write
from disconer.cli.init import init
from disconer.config import load_config

DATA = "data: {train: ../data/train.jsonl, dev: s3://bucket/dev.jsonl, test: /corpora/test.jsonl}\n"
TEXT = f"""\
{DATA}\
encoder: {{name: bert}}
training: {{start_from: pharmacovigilance}}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    monkeypatch.chdir(tmp_path)


def test_relative_to_the_file() -> None:
    Path("configs/one.yaml").write_text(TEXT)
    config = load_config("configs/one.yaml")
    assert Path(config.data.train) == Path("configs/../data/train.jsonl")
    assert config.data.dev == "s3://bucket/dev.jsonl"
    assert config.data.test == "/corpora/test.jsonl"


def test_names_stay_names_unless_there_is_such_a_folder() -> None:
    Path("configs/one.yaml").write_text(TEXT)
    config = load_config("configs/one.yaml")
    assert (config.encoder.name, config.training.start_from) == ("bert", "pharmacovigilance")
    Path("configs/bert").mkdir()
    assert load_config("configs/one.yaml").encoder.name == "configs/bert"


def test_a_folder_that_has_the_name_of_a_bundled_model_may_be_another_thing() -> None:
    names = "encoder: {name: biomedical-minilm}\ntraining: {start_from: clinical-trials}\n"
    Path("configs/one.yaml").write_text(DATA + names)
    for name in ("biomedical-minilm", "clinical-trials"):
        Path("configs", name, "best").mkdir(parents=True)
    config = load_config("configs/one.yaml")
    assert (config.encoder.name, config.training.start_from) == ("biomedical-minilm", "clinical-trials")
    Path("configs/biomedical-minilm/config.json").touch()
    Path("configs/clinical-trials/best/config.json").touch()
    config = load_config("configs/one.yaml")
    assert config.encoder.name == "configs/biomedical-minilm"
    assert config.training.start_from == "configs/clinical-trials"


def test_overrides_and_presets_are_relative_to_the_current_directory() -> None:
    Path("configs/one.yaml").write_text(TEXT)
    assert load_config("configs/one.yaml", ["data.train=here.jsonl"]).data.train == "here.jsonl"
    assert load_config("chia").data.train == "data/chia/train.jsonl"


def test_init_writes_paths_that_its_file_finds() -> None:
    documents = [Document(f"d{number}", f"some pain {number}", (Entity("ADR", ((5, 9),)),)) for number in range(30)]
    write(documents, Path("notes.jsonl"))
    init(Path("notes.jsonl"), Path("configs/adr.yaml"))
    assert "train: adr-data/train.jsonl" in Path("configs/adr.yaml").read_text()
    assert Path(load_config("configs/adr.yaml").data.train).is_file()
