"""An output folder knows what made it: nothing of another model or setting is taken for the answer asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from disconer import DisconerError, read
from disconer.cli import app
from disconer.predict.local.folder_record import RECORD
from disconer.store.checkpoint import save_model
from nn.toy import letter_model
from once import with_graphs_once


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(with_graphs_once(tmp_path_factory, letter_model()), folder)
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in (("a", "p in my k"), ("b", "no k"), ("c", "nothing")):
        (folder / f"{name}.txt").write_text(text)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["predict", *map(str, arguments)], catch_exceptions=False)


def found(path: Path) -> list[str]:
    return [entity.text for document in read(path) for entity in document.entities]


@pytest.mark.parametrize("source", ["files", "text"])
@pytest.mark.parametrize(
    ("other", "named"),
    [
        (("--threshold", "0.9"), "outputs with threshold not given; asked for threshold 0.9"),
        (("--labels", "ADR"), "outputs with labels not given; asked for labels ADR"),
        (("--splitter", "rules"), "outputs with splitter not given; asked for splitter rules"),
        (("--to", "bioc-xml"), "outputs with to jsonl; asked for to bioc-xml"),
    ],
)
def test_other_settings_are_refused_by_name(
    notes: Path, model: Path, tmp_path: Path, source: str, other: tuple[str, str], named: str
) -> None:
    given = (notes,) if source == "files" else ("--text", "p in my k")
    out = tmp_path / "out"
    run(*given, "-o", out, "--to", "jsonl", "--model", model)
    with pytest.raises(DisconerError, match="filled with other settings") as refused:
        run(*given, "-o", out, "--to", "jsonl", "--model", model, *other)
    assert named in str(refused.value)
    assert "another folder for --out, or add --force" in str(refused.value)


def test_another_model_is_refused_and_the_same_under_another_name_is_not(
    notes: Path, model: Path, tmp_path: Path
) -> None:
    out, other, copy = tmp_path / "out", tmp_path / "other", tmp_path / "copy"
    save_model(letter_model(), copy)
    save_model(letter_model(), other)
    description = json.loads((other / "config.json").read_text())
    description["scale"] = {"slope": 2.0, "intercept": 0.0}
    (other / "config.json").write_text(json.dumps(description))
    run(notes, "-o", out, "--model", model)
    assert "skipped: 3" in run(notes, "-o", out, "--model", copy).stderr
    with pytest.raises(DisconerError) as refused:
        run(notes, "-o", out, "--model", other)
    assert f"model {model} (digest" in str(refused.value)
    assert f"model {other} (digest" in str(refused.value)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_force_leaves_nothing_that_would_be_taken_for_new(
    notes: Path, model: Path, tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs of other inputs, which --force has not replaced, are predicted again when they are asked for."""
    monkeypatch.setattr("disconer.cli.predict.useful_jobs", lambda asked, inputs: asked)
    out = tmp_path / "out"
    usual = ("-o", out, "--to", "jsonl", "--model", model, "-j", jobs)
    run(notes, *usual)
    assert found(out / "a.jsonl") == ["p k"]
    high = ("--threshold", "0.99")
    assert "written: 1" in run(notes / "b.txt", *usual, *high, "--force").stderr
    assert found(out / "a.jsonl") == ["p k"]
    said = run(notes, *usual, *high).stderr
    assert "written: 2" in said
    assert "skipped: 1" in said
    assert found(out / "a.jsonl") == []
    assert json.loads((out / RECORD).read_text())["outdated"] == []


@pytest.mark.parametrize("to", ["jsonl", "brat"])
@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")], ids=["here", "jobs"])
def test_what_changed_is_predicted_again(
    notes: Path, model: Path, tmp_path: Path, to: str, jobs: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    command = (notes, "-o", out, "--to", to, "--model", model)
    run(*command)
    os.utime(out / f"a{'.ann' if to == 'brat' else '.jsonl'}", (1, 1))
    (notes / "a.txt").write_text("k and k")
    done = run(*command, *jobs)
    assert f"written: 1 {'document' if to == 'brat' else 'file'} in" in done.stderr
    assert "skipped: 2 " in done.stderr
    assert next(document.text for document in read(out)) == "k and k"
    assert "written: 0 " in run(*command).stderr


@pytest.mark.parametrize("to", ["jsonl", "brat"])
def test_another_text_of_the_command_line_is_predicted(model: Path, tmp_path: Path, to: str) -> None:
    for text in ("p in my k", "k and k"):
        done = run("--text", text, "-o", tmp_path / "out", "--to", to, "--model", model)
        assert "written: 1 " in done.stderr
        assert [document.text for document in read(tmp_path / "out")] == [text]


def test_outputs_of_unknown_origin_are_not_taken(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(notes, "-o", out, "--to", "jsonl", "--model", model)
    (out / RECORD).unlink()
    with pytest.raises(DisconerError, match="no record of the model and settings"):
        run(notes, "-o", out, "--to", "jsonl", "--model", model)
    (out / RECORD).write_text("[]")
    with pytest.raises(DisconerError, match="not the record of an output folder"):
        run(notes, "-o", out, "--to", "jsonl", "--model", model)


def test_a_refused_first_try_binds_to_nothing(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(DisconerError, match="no label 'Nonsense'"):
        run(notes, "-o", out, "--model", model, "--labels", "Nonsense")
    assert "written: 3" in run(notes, "-o", out, "--model", model).stderr


def test_outputs_are_kept_when_skip_bad_is_added(notes: Path, model: Path, tmp_path: Path) -> None:
    given = (notes, "-o", tmp_path / "out", "--to", "brat", "--model", model)
    run(*given)
    (notes / "d.txt").write_bytes(b"no \xe4 k")
    (notes / "e.txt").write_text("no k")
    with pytest.raises(DisconerError, match="not UTF-8"):
        run(*given)
    said = run(*given, "--skip-bad").stderr
    assert "written: 1 document in" in said
    assert "skipped: 3 documents already there" in said
    with pytest.raises(DisconerError, match="skip_bad True; asked for skip_bad False"):  # something may be missing
        run(*given)


def test_folders_that_an_error_left_empty_bind_to_nothing(notes: Path, model: Path, tmp_path: Path) -> None:
    (notes / "sub").mkdir()
    (notes / "sub" / "d.txt").write_text("no k")
    (notes / "a.txt").write_bytes(b"\xe4")
    out = tmp_path / "out"
    with pytest.raises(DisconerError, match="not UTF-8"):
        run(notes, "-o", out, "--to", "brat", "--model", model)
    (notes / "a.txt").write_text("p in my k")
    assert run(notes, "-o", out, "--to", "brat", "--model", model, "--threshold", "0.1").exit_code == 0


@pytest.mark.parametrize("to", ["brat", "jsonl"])
def test_doing_nothing_starts_no_worker_and_asks_for_no_gpu(
    notes: Path, model: Path, tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one document left, they are: the two names that are replaced are those that count."""
    asked: list[int] = []
    run(notes, "-o", tmp_path / "out", "--to", to, "--model", model)
    monkeypatch.setattr("disconer.cli.predict.useful_jobs", lambda asked, inputs: asked)
    monkeypatch.setattr("disconer.predict.local.work.default_jobs", lambda *_: asked.append(1) or 1)
    monkeypatch.setattr("disconer.predict.local.work.Jobs", lambda tasks, ledger: asked.append(2) or pytest.fail("no"))
    for jobs in ((), ("-j", 2)):
        assert "skipped: 3" in run(notes, "-o", tmp_path / "out", "--to", to, "--model", model, *jobs).stderr
    assert asked == []
    (notes / "d.txt").write_text("p")
    assert "written: 1" in run(notes, "-o", tmp_path / "out", "--to", to, "--model", model).stderr
    assert asked == [1]


def test_doing_nothing_loads_no_model(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(notes, "-o", out, "--model", model)
    script = (
        "import sys; from disconer.cli import app\n"
        f"try: app(['predict', {str(notes)!r}, '-o', {str(out)!r}, '--model', {str(model)!r}])\n"
        "except SystemExit as end: assert not end.code\n"
        "print(*{'torch', 'onnxruntime'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "skipped: 3" in done.stderr
    assert done.stdout.strip() == ""


def test_brat_gets_its_annotation_conf_and_keeps_the_user_s_own(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(notes, "-o", out, "--to", "brat", "--model", model)
    assert (out / "annotation.conf").read_text().startswith("[entities]\nADR\n")
    (out / "annotation.conf").write_text("mine")
    run(notes, "-o", out, "--to", "brat", "--model", model, "--force")
    assert (out / "annotation.conf").read_text() == "mine"
