from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from disconer import DisconerError
from disconer.cli import app
from disconer.evaluate import spread
from disconer.experiments.figures import compare_runs
from disconer.experiments.folder import ExperimentFolder, Record
from disconer.experiments.report import write_report
from disconer.experiments.results import Place, read_results
from disconer.experiments.tables import overview, tables
from experiments.made_runs import GOLD, made_run

SVG = "http://www.w3.org/2000/svg"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two systems, two seeds each, one of them also on a tenth of the data."""
    folder = tmp_path / "runs"
    for seed in (1, 2):
        made_run(folder / f"span-{seed}", found=0.9, seed=seed)
        made_run(folder / f"bio-{seed}", found=0.6, seed=seed, head="tagger")
        made_run(folder / f"span-small-{seed}", found=0.3, seed=seed, share=0.1)
    return folder


def f1(folder: Path, split: str = "test") -> float:
    return float(json.loads((folder / f"{split}.json").read_text())["overall"]["f1"])


def test_runs_trained_anywhere_are_put_in_cells(runs: Path) -> None:
    cells = read_results([runs]).cells()
    assert {place: len(own) for place, own in cells.items()} == {
        Place("complaints", "tagger"): 2,
        Place("complaints", "span"): 2,
        Place("complaints", "span", 0.1): 2,
    }


def test_systems_are_named_by_what_differs(tmp_path: Path) -> None:
    made_run(tmp_path / "a", found=0.9, training={"seed": 1, "epochs": 3})
    made_run(tmp_path / "b", found=0.9, training={"seed": 2, "epochs": 5})
    assert [place.system for place in read_results([tmp_path]).cells()] == ["span epochs=3", "span epochs=5"]


def systems(folder: Path) -> set[str]:
    return {place.system for place in read_results([folder]).cells()}


def test_runs_that_start_from_different_models_are_different_systems(tmp_path: Path) -> None:
    """They were averaged as if they differed only in their seed."""
    made_run(tmp_path / "scratch", found=0.3)
    made_run(tmp_path / "bundled", found=0.9, start="1f", training={"start_from": "patient-posts"})
    assert systems(tmp_path) == {"span start_from=None", "span start_from=patient-posts"}
    made_run(tmp_path / "moved", found=0.9, start="1f", training={"start_from": "/elsewhere/patient-posts"})
    assert len(systems(tmp_path)) == 2
    made_run(tmp_path / "own", found=0.9, start="2f", training={"start_from": "/models/patient-posts"})
    assert len(systems(tmp_path)) == 3


def test_runs_on_one_corpus_read_differently_are_different_systems(tmp_path: Path) -> None:
    made_run(tmp_path / "rules", found=0.9, data={"splitter": "rules"})
    made_run(tmp_path / "notes", found=0.9, corpus="notes", data={"splitter": "lines"})
    assert systems(tmp_path) == {"span"}
    made_run(tmp_path / "lines", found=0.9, data={"splitter": "lines"})
    assert systems(tmp_path) == {"span", "span splitter=rules", "span splitter=lines"}


def test_means_and_differences(runs: Path) -> None:
    comparison = compare_runs(read_results([runs]))
    row = {row[0]: row for section in overview(comparison).sections for row in section}["complaints: span"]
    expected = spread([f1(runs / "span-1"), f1(runs / "span-2")])
    assert (row[1], row[5]) == ("2", str(expected))
    (pair,) = comparison.compared
    assert {pair.one.system, pair.other.system} == {"span", "tagger"}
    assert (pair.overall.f1 > 0) == (pair.one.system == "span")
    assert pair.overall.p < 0.01


def test_systems_of_different_gold_entities_are_not_paired(runs: Path) -> None:
    """As where data.labels leaves some out: the difference would be that of the entities, not of the systems."""
    fewer = [document.replace(entities=document.entities[:1]) for document in GOLD]
    for seed in (1, 2):
        made_run(runs / f"few-{seed}", found=0.9, seed=seed, gold=fewer, training={"seed": seed, "epochs": 3})
    comparison = compare_runs(read_results([runs]))
    few, span, tagger = "span epochs=3", "span epochs=20", "tagger"
    assert [{pair.one.system, pair.other.system} for pair in comparison.compared] == [{span, tagger}]
    (groups,) = comparison.by_gold.values()
    assert {frozenset(group) for group in groups} == {frozenset({few}), frozenset({span, tagger})}
    assert "Not comparable on complaints, as their gold entities differ" in overview(comparison).note
    assert "Not comparable" not in overview(replace(comparison, by_gold={})).note


def test_runs_of_the_same_seed_are_told(runs: Path) -> None:
    """A run and its copy have no deviation, which looked like one over seeds."""
    assert "same seed" not in overview(compare_runs(read_results([runs]))).note
    shutil.copytree(runs / "span-2", runs / "span-2-copy")
    note = overview(compare_runs(read_results([runs]))).note
    assert note.endswith("Several runs of complaints: span have the same seed (2): their deviation is not over seeds.")


def test_all_files_of_a_report(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    result = CliRunner().invoke(app, ["experiment", "--report", str(runs), "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "complaints: span, 10 %" in result.stdout
    rows = list(csv.DictReader((out / "figures.csv").open()))
    (one,) = [
        row
        for row in rows
        if (row["system"], row["split"], row["group"]) == ("tagger", "dev", "overall") and row["metric"] == "f1"
    ]
    assert float(one["mean"]) == pytest.approx(spread([f1(runs / "bio-1", "dev"), f1(runs / "bio-2", "dev")]).mean)
    assert {row["group"] for row in rows} == {"overall", "kind", "part", "label", "length", "gap"}
    page = (out / "report.html").read_text()
    assert page.count('<figure class="bars">') == 2
    assert page.count('<figure class="plot">') == 2  # learning curves: all entities, discontinuous ones
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(src|href|url)\s*[=(]", page)  # nothing is loaded
    kinds = ElementTree.fromstring((out / "complaints-kinds.svg").read_bytes())
    assert [text.text for text in kinds.iter(f"{{{SVG}}}text")][-2:] == ["tagger", "span"]  # the legend
    assert (out / "complaints-parts.svg").is_file()
    assert r"$\pm$" in (out / "report.tex").read_text()
    assert "## Speed and size" in (out / "report.md").read_text()


def test_folders_may_be_given_as_strings(runs: Path, tmp_path: Path) -> None:
    write_report([str(runs)], str(tmp_path / "report"))
    assert (tmp_path / "report" / "report.md").is_file()


def test_runs_of_earlier_versions_have_no_lists(tmp_path: Path) -> None:
    made_run(tmp_path / "a", found=0.9, lists=False)
    titles = [table.title for table in tables(compare_runs(read_results([tmp_path])))]
    assert titles == ["Results", "complaints: by label", "Speed and size"]


def test_an_experiment_names_its_systems_and_its_failures(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    places = {f"own/{head}/1": {"corpus": "own", "head": head, "seed": "1"} for head in ("span", "bio", "grid")}
    made_run(folder.run("own/span/1"), found=0.9)
    folder.write(Record("heads", "", places, {"own/bio/1": "no such file"}))
    comparison = compare_runs(read_results([tmp_path]))
    table = overview(comparison)
    (rows,) = table.sections
    assert [(row[0], row[1], row[-1]) for row in rows] == [("own: span", "1", ""), ("own: bio", "0", "no such file")]
    assert "Incomplete runs left out: 1." in table.note


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no complete training run here"):
        read_results([tmp_path])
