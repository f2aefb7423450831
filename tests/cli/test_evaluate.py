from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from typer.testing import CliRunner

from annotated import annotated
from disconer import DisconerError, Document, write
from disconer.cli import app
from disconer.cli.evaluate import evaluate_files
from disconer.store.checkpoint import save_model
from nn.toy import toy_model

GOLD = [annotated("ADR: pain … hands", id="a"), annotated("ADR: itching", id="b")]
PREDICTED = [annotated("ADR: itching", id="b"), annotated("ADR: pain", id="a")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(GOLD, tmp_path / "gold.jsonl")
    write(PREDICTED, tmp_path / "predicted.jsonl")
    return tmp_path


def run(*arguments: object) -> str:
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)], catch_exceptions=False).stdout


def test_json(folder: Path) -> None:
    figures = json.loads(run(folder / "gold.jsonl", "--predictions", folder / "predicted.jsonl", "--json"))
    assert (figures["documents"], figures["overall"]["f1"]) == (2, 0.5)
    assert figures["errors"]["missing_fragment"]["errors"] == 1


def test_table_and_page(folder: Path) -> None:
    page = folder / "report.html"
    arguments = (folder / "gold.jsonl", "--predictions", folder / "predicted.jsonl", "--html", page)
    shown = run(*arguments)
    assert "Entities of 2 documents" in shown
    assert "missing fragment" in shown
    assert "Wrong sentences: 1" in page.read_text("utf-8")
    with pytest.raises(DisconerError, match="already exists"):
        run(*arguments)
    run(*arguments, "--force")


def test_missing_predictions(folder: Path) -> None:
    write(PREDICTED[:1], folder / "some.jsonl")
    with pytest.raises(DisconerError, match="no prediction for 1 of the gold documents: 'a'"):
        run(folder / "gold.jsonl", "--predictions", folder / "some.jsonl", "--html", folder / "report.html")
    assert not (folder / "report.html").exists()
    arguments = ("--predictions", folder / "some.jsonl", "--missing-as-empty", "--json")
    assert json.loads(run(folder / "gold.jsonl", *arguments))["overall"]["recall"] == 0.5


@pytest.mark.parametrize("name", ["found.csv", "found.tsv"])
def test_tables_of_predictions_are_refused(folder: Path, name: str) -> None:
    """The advice was about texts: to write them to .txt files."""
    write(PREDICTED, folder / name)
    for options in ([], ["--predictions-from", name[-3:]]):
        with pytest.raises(DisconerError, match=rf"{name}: A table of entities cannot be read: .* --to jsonl"):
            run(folder / "gold.jsonl", "--predictions", folder / name, *options)


@pytest.mark.parametrize("options", [[], ["--model", "m", "--predictions", "p"]])
def test_needs_one_of_model_and_predictions(folder: Path, options: list[str]) -> None:
    with pytest.raises(DisconerError, match="either a model or predictions"):
        run(folder / "gold.jsonl", *options)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that finds the same in every text, and has to find it by itself."""

    def annotate(documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            assert document.entities == ()
            yield document.replace(entities=GOLD[0].entities)

    recognizer = ModuleType("disconer.predict.recognizer")
    recognizer.Recognizer = SimpleNamespace(
        from_pretrained=lambda name, **_: SimpleNamespace(annotate=annotate, labels=("ADR",))
    )
    monkeypatch.setitem(sys.modules, "disconer.predict.recognizer", recognizer)


@pytest.mark.usefixtures("model")
def test_model_sees_texts_without_gold_entities(folder: Path) -> None:
    figures = json.loads(run(folder / "gold.jsonl", "--model", "anything", "--json"))
    assert figures["overall"]["recall"] == 0.5


@pytest.mark.usefixtures("model")
def test_gold_labels_that_the_model_does_not_have_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate_files(folder / "gold.jsonl", model="anything")
    assert "warning" not in capsys.readouterr().err
    write([annotated("ADR: pain … hands", "Place: knees", "Side: left", id="a")], folder / "other.jsonl")
    evaluate_files(folder / "other.jsonl", model="anything")
    said = "does not have 2 of the gold labels, so their 2 entities count as missed: Place, Side. It has ADR."
    assert said in capsys.readouterr().err


def test_gold_without_entities_is_warned_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("pain in hands")
    evaluate_files(folder / "texts", model="clinical-trials")
    assert f"warning: {folder / 'texts'} has no entities, so all figures are 0" in capsys.readouterr().err
    evaluate_files(folder / "gold.jsonl", predictions=folder / "predicted.jsonl")
    assert "no entities" not in capsys.readouterr().err


def test_some_labels_alone(folder: Path) -> None:
    write([annotated("ADR: pain … hands", "Place: knees", id="a")], folder / "gold.jsonl", force=True)
    write([annotated("ADR: pain … hands", "Side: left", id="a")], folder / "predicted.jsonl", force=True)
    arguments = (folder / "gold.jsonl", "--predictions", folder / "predicted.jsonl", "--json")
    assert json.loads(run(*arguments))["overall"]["f1"] == 0.5
    figures = json.loads(run(*arguments, "--labels", "ADR"))
    assert (figures["overall"]["f1"], list(figures["labels"])) == (1.0, ["ADR"])
    figures = json.loads(run(*arguments, "--labels", "ADR, Side"))
    assert (figures["overall"]["gold"], figures["overall"]["predicted"]) == (1, 2)
    with pytest.raises(DisconerError, match="Neither gold nor predicted entities have the label adr"):
        run(*arguments, "--labels", "adr")
    for empty in ("", "ADR,,Side"):
        with pytest.raises(DisconerError, match=f"A label has no name. Got '{empty}', expected"):
            run(*arguments, "--labels", empty)


def test_a_threshold_of_scores(folder: Path) -> None:
    """What has no score stays."""
    (scored,) = PREDICTED[0].entities
    unscored = PREDICTED[1]
    write([PREDICTED[0].replace(entities=(replace(scored, score=0.4),)), unscored], folder / "scored.jsonl")
    for threshold, expected in ((None, (1, 2)), (0.4, (1, 2)), (0.5, (0, 1))):
        evaluation = evaluate_files(
            folder / "gold.jsonl", predictions=folder / "scored.jsonl", threshold=threshold, html=folder / "a.html",
            force=True,
        )  # fmt: skip
        assert (evaluation.overall.right, evaluation.overall.predicted) == expected
    assert "threshold" in (folder / "a.html").read_text("utf-8")


def test_a_low_threshold_counts_what_the_model_would_not_report(folder: Path) -> None:
    write([annotated("Condition: pain", id="a")], folder / "few.jsonl")
    usual, low = (
        evaluate_files(folder / "few.jsonl", model="clinical-trials", threshold=threshold) for threshold in (None, 0.1)
    )
    assert low.overall.predicted > usual.overall.predicted > 0


@pytest.mark.usefixtures("model")
def test_page_of_a_trained_model_has_its_learning_curve(folder: Path) -> None:
    epochs = [{"epoch": epoch, "loss": 1.0, "dev_f1": 0.5, "dev_f1_discontinuous": 0.1} for epoch in (1, 2)]
    (folder / "metrics.jsonl").write_text("\n".join(map(json.dumps, epochs)), "utf-8")
    (folder / "best").mkdir()
    run(folder / "gold.jsonl", "--model", folder / "best", "--html", folder / "report.html")
    assert "F1 on dev while training" in (folder / "report.html").read_text("utf-8")


def test_the_parser_of_a_model_is_used_only_if_the_user_names_it(folder: Path) -> None:
    save_model(toy_model(syntax={"parser": "corenlp:http://collector.example:9000", "gcn": {}}), folder / "model")
    arguments = (folder / "gold.jsonl", "--model", folder / "model")
    with pytest.raises(DisconerError, match="sends every text to that address"):
        run(*arguments)
    assert "Entities of 2 documents" in run(*arguments, "--parser", "none")
