from __future__ import annotations

from pathlib import Path

import pytest

from disconer import DisconerError
from disconer.config import ConfigError
from disconer.experiments.experiment import run_experiment
from disconer.experiments.study import Study, load_study

STUDIES = Path(__file__).parents[2] / "studies"

MATRIX = """
name: heads
defaults: {training.epochs: 3, config: chia}
axes:
  corpus: {chia: , own: {config: own.yaml}}
  head: {grid: , bio: {head.kind: tagger, head.scheme: BIO}}
  share: [0.1, 1.0]
  seed: [1, 2]
adjust:
- {when: {corpus: own, head: bio}, set: {training.epochs: 5}}
only: [{share: 1}, {head: grid, corpus: chia}]
skip: [{corpus: own, seed: 2}]
"""


def study(folder: Path, text: str) -> Study:
    (folder / "study.yaml").write_text(text)
    return load_study(folder / "study.yaml")


def test_combinations_that_the_rules_leave(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("data: {train: a, dev: b}")
    runs = {run.name: run for run in study(tmp_path, MATRIX).runs()}
    assert list(runs) == [
        "chia/grid/0.1/1",
        "chia/grid/0.1/2",
        "chia/grid/1/1",
        "chia/grid/1/2",
        "chia/bio/1/1",
        "chia/bio/1/2",
        "own/grid/1/1",
        "own/bio/1/1",
    ]
    assert runs["chia/grid/0.1/2"].cell == "chia/grid/0.1"
    adjusted = runs["own/bio/1/1"].load()
    assert (adjusted.training.epochs, adjusted.head.kind, adjusted.data.train) == (5, "tagger", str(tmp_path / "a"))
    assert (runs["chia/bio/1/2"].config, runs["chia/bio/1/2"].load().training.seed) == ("chia", 2)


def test_all_problems_at_once(tmp_path: Path) -> None:
    text = "axis: {}\naxes:\n  head: {span: {head: {kind: span}}}\n  seed: 3\nskip: [{haed: span}, {head: grid}]\n"
    with pytest.raises(ConfigError) as caught:
        study(tmp_path, text)
    assert [str(problem) for problem in caught.value.problems] == [
        "axis (line 1): unknown key; did you mean 'axes'?",
        "axes.head.span.head (line 3): expected single settings, such as head.kind: …",
        "axes.seed (line 4): expected a list",
        "axes.seed (line 4): this axis has no values",
        "skip.0.haed (line 5): there is no such axis; did you mean 'head'?",
        "skip.1.head (line 5): there is no head grid; there are span",
    ]


@pytest.mark.parametrize(
    ("name", "n_runs"), [("paper", 135), ("open", 210), ("discontinuous", 90), ("current", 30), ("size", 32)]
)
def test_every_run_of_the_studies_here_has_a_configuration(name: str, n_runs: int) -> None:
    runs = load_study(STUDIES / f"{name}.yaml").runs()
    assert len(runs) == n_runs
    for run in runs:
        assert run.load().training.seed == int(run.values["seed"])


def test_a_study_without_runs_is_not_begun(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("name: none\ndefaults: {config: chia}\naxes: {seed: [1]}\nskip: [{seed: 1}]")
    with pytest.raises(DisconerError, match="The rules of this study exclude every run"):
        run_experiment(str(tmp_path / "study.yaml"), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
