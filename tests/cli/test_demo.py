"""The demo: its data is what its README says, and it leaves a model and nothing else."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import disconer.demo
from disconer import DisconerError, Document, Kind, Recognizer, read
from disconer.cli import app
from disconer.corpora.chia import TYPES
from disconer.corpora.recipe import hashed_split
from disconer.demo import demo_config
from disconer.store.names import find_model
from training.synthetic import complaints, prepare

FOLDER = Path(disconer.demo.__file__).parent
MOST_BYTES = 400_000  # everybody who installs disconer downloads this
MAKER = Path(__file__).parents[2] / "scripts" / "make_demo_data.py"


def documents(split: str) -> list[Document]:
    return list(read(FOLDER / "criteria" / f"{split}.jsonl.gz"))


def trials(split: str) -> set[str]:
    return {document.id.partition("_")[0] for document in documents(split)}


def test_data_is_small_and_attributed() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("criteria/*.gz")) < MOST_BYTES
    notice = (FOLDER / "README.md").read_text("utf-8")
    assert all(words in notice for words in ("Kury", "Creative Commons Attribution 4.0", "Changes: "))


def test_no_document_that_figures_on_chia_are_measured_on() -> None:
    assert {hashed_split(trial) for split in ("train", "dev") for trial in trials(split)} == {"train"}
    assert not trials("train") & trials("dev")


def test_every_kind_and_type_can_be_learnt() -> None:
    kinds = Counter(entity.kind for document in documents("train") for entity in document.entities)
    assert min(kinds[kind] for kind in Kind) > 400
    assert {entity.label for document in documents("train") for entity in document.entities} == TYPES


def test_data_can_be_made_again(data: Path, tmp_path: Path) -> None:
    runpy.run_path(str(MAKER))["make"](data / "chia" / "chia_without_scope.zip", tmp_path)
    for split in ("train", "dev"):
        assert list(read(tmp_path / f"{split}.jsonl.gz")) == documents(split)


def test_configuration_is_about_that_data() -> None:
    config = demo_config(epochs=3)
    assert (config.training.epochs, config.training.steps_at_least) == (3, 0)
    assert Path(config.data.train).parent == Path(config.data.dev).parent == FOLDER / "criteria"


# The verb, with a toy in place of the data and the encoder.


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder of somebody who has no model yet."""
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    monkeypatch.setattr("disconer.demo.demo_config", lambda epochs: config)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home"))
    monkeypatch.delenv("DISCONER_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["demo", *map(str, arguments)], catch_exceptions=False)


def test_model_has_a_name(toy: Path) -> None:
    shown = run().stdout
    assert "The model is in" in shown
    assert "disconer predict --model demo" in shown
    model = find_model("demo")
    assert model == toy / "home" / "disconer" / "models" / "demo"
    assert [path.name for path in model.parent.iterdir()] == ["demo"]  # nothing half-made is left
    Recognizer.from_pretrained("demo")


def test_a_second_time_it_keeps_the_model(toy: Path) -> None:
    run("--out", "model")
    before = (toy / "model" / "model.safetensors").stat().st_mtime_ns
    result = run("--out", "model")
    assert "already exists" in result.stdout
    assert "--model model" in result.stdout
    assert (toy / "model" / "model.safetensors").stat().st_mtime_ns == before
    run("--out", "model", "--force")
    assert (toy / "model" / "model.safetensors").stat().st_mtime_ns > before


def test_no_other_folder_is_replaced(toy: Path) -> None:
    (toy / "thesis").mkdir()
    (toy / "thesis" / "thesis.tex").touch()
    with pytest.raises(DisconerError, match="not a model"):
        run("--out", "thesis", "--force")
    assert (toy / "thesis" / "thesis.tex").exists()
