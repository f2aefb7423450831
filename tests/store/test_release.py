"""The card of a released model says what was measured, over seeds and of itself, and what people wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from disconer import DisconerError, Document, Entity
from disconer.config.load import format_yaml
from disconer.evaluate import evaluate
from disconer.nn.scores import UNSCALED
from disconer.store.checkpoint import record_measures, save_model
from disconer.store.description import read_description
from disconer.store.release import About, read_about, record_release
from nn.toy import letter_model, toy_model

ROOT = Path(__file__).parents[2]
ABOUTS = sorted((ROOT / "recipes").glob("*/about.yaml"))
TEXT = "Pain and stiffness in my knees after aspirin."
GOLD = [Entity("ADR", ((0, 4), (19, 30))), Entity("ADR", ((9, 30),)), Entity("Drug", ((37, 44),))]


def evaluated(*found: int) -> dict[str, Any]:
    """What is measured if so many of the gold entities are found."""
    scored = tuple(Entity(GOLD[n].label, GOLD[n].fragments, score=0.75) for n in found)
    return evaluate([Document("d", TEXT, tuple(GOLD))], [Document("d", TEXT, scored)]).to_dict()


def run(folder: Path, seed: int, *found: int) -> Path:
    folder.mkdir(parents=True)
    for split in ("dev", "test"):
        (folder / f"{split}.json").write_text(json.dumps(evaluated(*found)))
    (folder / "config.yaml").write_text(format_yaml({"training": {"seed": seed}}))
    return folder


def about(**changes: Any) -> About:
    fields = {name: f"the {name}" for name in ("name", "title", "finds", "example", "corpus", "licence", "data")}
    more = {"citation": "@x{}", "use": "the use", "limits": ["the limit"], "commands": "the commands"}
    return About(**(fields | more | {"labels": dict.fromkeys(letter_model().labels, "the meaning")} | changes))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    save_model(letter_model(), folder)
    return folder


@pytest.fixture
def released(model: Path, tmp_path: Path) -> Path:
    runs = [run(tmp_path / "1", 11, 0, 1, 2), run(tmp_path / "2", 12, 1, 2)]
    record_release(model, about(), runs, {"dev": evaluated(0, 2), "test": evaluated(2)}, speed="the speed")
    return model


def test_what_the_card_says(released: Path) -> None:
    card = (released / "README.md").read_text("utf-8")
    for said in ("the title", "the finds", "the use", "the meaning", "the limit", "the commands", "the speed", "@x{}"):
        assert said in card
    assert "**Not a medical device.**" in card
    assert "over 2 seeds (11, 12)" in card
    dev, test = card.split("| dev |")[1].split("| test |")
    assert "| **all** | 3 | 100.0 ± 0.0 | 83.3 ± 23.6 | 90.0 ± 14.1 | 80.0 |" in dev
    assert "| discontinuous | 1 | 50.0 ± 70.7 | 50.0 ± 70.7 | 50.0 ± 70.7 | 100.0 |" in dev
    assert "| `Drug` | 1 | 100.0 ± 0.0 | 100.0 ± 0.0 | 100.0 ± 0.0 | 100.0 |" in test
    assert "| 0.7 to 0.8 | 75.0 | 100.0 | 1 |" in test
    assert "- Of the discontinuous entities of test, 50 % are found (mean over seeds)." in test
    assert str(released) not in card


def test_it_stays_when_something_else_is_recorded(released: Path) -> None:
    before = (released / "README.md").read_text("utf-8")
    record_measures(released, UNSCALED, {})
    assert (released / "README.md").read_text("utf-8") == before
    assert read_description(released)["figures"]["test"]["overall"]["f1"] == 0.5


def test_a_label_that_only_some_runs_found(model: Path, tmp_path: Path) -> None:
    other = run(tmp_path / "1", 1, 0)
    measured = evaluated(0)
    del measured["labels"]["Drug"]
    (other / "dev.json").write_text(json.dumps(measured))
    both = [other, run(tmp_path / "2", 2, 0)]
    record_release(model, about(), both, {"dev": evaluated(2), "test": evaluated(2)}, speed="")
    assert "| `Drug` | 1 | 0.0 ± 0.0 | 0.0 ± 0.0 | 0.0 ± 0.0 | 100.0 |" in (model / "README.md").read_text("utf-8")


def test_labels_that_are_not_explained(model: Path, tmp_path: Path) -> None:
    own = {"dev": evaluated(), "test": evaluated()}
    with pytest.raises(DisconerError, match=r"labels of the model.*Got ADR, Pian"):
        record_release(model, about(labels={"Pian": "x"}), [run(tmp_path / "1", 1)], own, speed="")


def test_where_it_was_made_is_not_told(tmp_path: Path) -> None:
    places = {split: f"/home/ann/chia/{split}.jsonl" for split in ("train", "dev", "test")}
    save_model(toy_model(data=places, encoder={"name": "/home/ann/work/encoder"}), tmp_path / "model")
    own = {"dev": evaluated(0), "test": evaluated(0)}
    explained = about(labels=dict.fromkeys(toy_model().labels, "x"))
    record_release(tmp_path / "model", explained, [run(tmp_path / "1", 1, 0)], own, speed="")
    for file in ("config.json", "README.md"):
        assert "/home" not in (tmp_path / "model" / file).read_text("utf-8")
    assert read_description(tmp_path / "model")["config"]["data"]["dev"] == "chia/dev.jsonl"


def test_a_model_that_finds_nothing(model: Path, tmp_path: Path) -> None:
    own = {"dev": evaluated(0), "test": evaluated(0)}
    with pytest.raises(DisconerError, match="finds nothing"):
        record_release(model, about(), [run(tmp_path / "1", 1)], own, speed="")


@pytest.mark.parametrize("path", ABOUTS, ids=lambda path: path.parent.name)
def test_what_is_written_of_our_models(path: Path) -> None:
    written = read_about(path)
    assert written.name == path.parent.name
    assert f"recipes/{written.name}/train" in written.commands


def test_something_is_missing(tmp_path: Path) -> None:
    (tmp_path / "about.yaml").write_text("name: x\nauthor: y\n")
    with pytest.raises(
        DisconerError, match=r"about\.yaml: This description of a model.*missing or unknown: author, citation"
    ):
        read_about(tmp_path / "about.yaml")


def test_a_single_run_has_no_means(model: Path, tmp_path: Path) -> None:
    alone = {"dev": evaluated(0, 2), "test": evaluated(1, 2)}
    record_release(model, about(), [run(tmp_path / "1", 11, 0, 2)], alone, speed="")
    card = (model / "README.md").read_text("utf-8")
    assert "seeds" not in card
    assert "those of\nthis model, of seed" in card
    assert "| **all** | 3 | 100.0 | 66.7 | 80.0 |\n" in card
