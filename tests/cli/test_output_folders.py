"""An output folder knows what made it: nothing of another model or setting is taken for the answer asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from disconer import DisconerError, read
from disconer.cli import app
from disconer.predict.local.folder_record import RECORD
from disconer.predict.local.manifest import made_by
from disconer.predict.origins import INPUTS
from disconer.predict.settings import Settings
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
    assert "replaced: 2 files of another text, or of other settings" in said
    assert "skipped: 3" in run(notes, *usual, *high).stderr


@pytest.mark.parametrize("to", ["jsonl", "brat"])
@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")], ids=["here", "jobs"])
def test_what_changed_is_predicted_again_whatever_the_times_of_files(
    notes: Path, model: Path, tmp_path: Path, to: str, jobs: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    command = (notes, "-o", out, "--to", to, "--model", model)
    run(*command)
    (notes / "a.txt").write_text("k and k")  # as long as before
    os.utime(notes / "a.txt", (1, 1))  # as by cp -p, rsync or tar
    os.utime(notes / "b.txt")
    done = run(*command, *jobs)
    what = "document" if to == "brat" else "file"
    assert done.stderr.startswith(
        f"written: 1 {what} in {out}\nreplaced: 1 {what} of another text, or of other settings\nskipped: 2 {what}s"
    )
    assert next(document.text for document in read(out)) == "k and k"
    assert "written: 0 " in run(*command).stderr


@pytest.mark.slow
@pytest.mark.parametrize("to", ["jsonl", "brat"])
def test_workers_recognise_changes_too(
    notes: Path, model: Path, tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disconer.cli.predict.useful_jobs", lambda asked, inputs: asked)
    command = (notes, "-o", tmp_path / "out", "--to", to, "--model", model, "--jobs", 2)
    run(*command)
    (notes / "a.txt").write_text("k and k")
    os.utime(notes / "a.txt", (1, 1))
    said = run(*command).stderr
    assert "written: 1 " in said
    assert "replaced: 1 " in said
    assert "skipped: 2 " in said
    assert next(document.text for document in read(tmp_path / "out")) == "k and k"
    assert "skipped: 3 " in run(*command).stderr


@pytest.mark.parametrize("to", ["jsonl", "brat"])
@pytest.mark.parametrize("kind", ["folder", "zip", "remote"])
def test_answers_to_other_texts_are_not_kept(model: Path, tmp_path: Path, to: str, kind: str) -> None:
    """Two inputs with files of the same name; the second is older than the output for the first."""
    out = tmp_path / "out"
    for name, text in (("one", "p in my k"), ("two", "k and k")):
        place = folder = tmp_path / name
        folder.mkdir()
        (folder / "n.txt").write_text(text)
        (folder / f"{name}.txt").write_text(f"no {name}")
        os.utime(folder / "n.txt", (10**9, 10**9))
        if kind == "zip":
            place = Path(shutil.make_archive(str(folder), "zip", folder))
            os.utime(place, (10**9, 10**9))
        given = place.as_uri() if kind == "remote" else place
        said = run(given, "-o", out, "--to", to, "--model", model).stderr
        (document,) = [document for document in read(out) if document.id == "n"]
        assert document.text == text
    what = "document" if to == "brat" else "file"
    assert said.startswith(
        f"written: 2 {what}s in {out}\n"
        f"replaced: 1 {what} of another text, or of other settings\n"
        f"also there: 1 {what} not made from this input\n"  # one.txt is not part of the second
    )


@pytest.mark.parametrize("to", ["jsonl", "brat"])
def test_outputs_whose_input_is_gone_are_mentioned(notes: Path, model: Path, tmp_path: Path, to: str) -> None:
    command = (notes, "-o", tmp_path / "out", "--to", to, "--model", model)
    assert "also there" not in run(*command).stderr
    (notes / "b.txt").unlink()
    said = run(*command).stderr
    assert "skipped: 2 " in said
    assert "also there: 1 " in said
    assert "also there: 3 " in run("--text", "p", *command[1:]).stderr


def test_another_format_of_the_input_is_another_input(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "a", "text": "p in my k"}\n')
    command = (path, "-o", tmp_path / "out", "--to", "jsonl", "--model", model)
    run(*command, "--from", "text")
    assert "replaced: 1 " in run(*command).stderr
    assert [document.text for document in read(tmp_path / "out")] == ["p in my k"]


@pytest.mark.parametrize("to", ["jsonl", "brat"])
@pytest.mark.parametrize("then", ["first", "second"])
def test_killed_at_any_moment_no_output_is_of_another_text(
    model: Path, tmp_path: Path, to: str, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed just before a file of the second input gets its name, or just after; then one of both is asked for."""
    texts = {"first": {"p in my k", "no k"}, "second": {"k and k", "k"}}
    for name, own in texts.items():
        (tmp_path / name).mkdir()
        for number, text in enumerate(own):
            (tmp_path / name / f"{number}.txt").write_text(text)
    tail = ("-o", tmp_path / "out", "--to", to, "--model", model)
    for moment in range({"jsonl": 4, "brat": 8}[to]):
        run(tmp_path / "first", *tail)
        with monkeypatch.context() as patch:
            patch.setattr("disconer.predict.files.os", Killing(moment))
            assert run(tmp_path / "second", *tail).exit_code
        run(tmp_path / then, *tail)
        assert {document.text for document in read(tmp_path / "out")} == texts[then]


class Killing:
    """Kills at a moment: before or after one of the calls of `replace`."""

    def __init__(self, moment: int) -> None:
        self.left, self.after = divmod(moment, 2)

    def replace(self, source: Path, target: Path) -> None:
        self.left -= 1
        if self.left < 0 and not self.after:
            raise KeyboardInterrupt
        os.replace(source, target)
        if self.left < 0:
            raise KeyboardInterrupt


def test_a_line_that_a_crash_cut_off_is_no_record(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = (notes, "-o", out, "--to", "jsonl", "--model", model)
    run(*command)
    (out / "c.jsonl").unlink()
    lines = (out / INPUTS).read_bytes().splitlines(keepends=True)
    (out / INPUTS).write_bytes(b"".join(lines)[:-5])
    assert "written: 1 " in run(*command).stderr
    assert "skipped: 3 " in run(*command).stderr
    assert (out / INPUTS).read_bytes().splitlines(keepends=True) == lines


def test_folders_of_earlier_versions_are_refused_in_one_sentence(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = (notes, "-o", out, "--to", "jsonl", "--model", model)
    run(*command)
    record = json.loads((out / RECORD).read_text())
    (out / RECORD).write_text(json.dumps(record | {"format": 1, "outdated": []}))
    (out / INPUTS).unlink()
    with pytest.raises(DisconerError, match="by an earlier version of disconer, which did not record the inputs"):
        run(*command)
    assert "written: 3 " in run(*command, "--force").stderr
    assert "skipped: 3 " in run(*command).stderr


@pytest.mark.parametrize("to", ["jsonl", "brat"])
def test_another_text_of_the_command_line_is_predicted(model: Path, tmp_path: Path, to: str) -> None:
    for text in ("p in my k", "k and k"):
        done = run("--text", text, "-o", tmp_path / "out", "--to", to, "--model", model)
        assert "written: 1 " in done.stderr
        assert [document.text for document in read(tmp_path / "out")] == [text]


def test_outputs_of_unknown_origin_are_not_taken(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(notes, "-o", out, "--to", "jsonl", "--model", model)
    (out / INPUTS).unlink()
    with pytest.raises(DisconerError, match="no record of what it was made from"):
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
    with pytest.raises(DisconerError, match="not UTF-8"):  # something is missing
        run(*given)


def test_skip_bad_binds_a_folder_only_where_something_was_skipped(notes: Path, model: Path, tmp_path: Path) -> None:
    for path in notes.iterdir():
        path.unlink()
    for name in "ab":
        (notes / f"{name}.jsonl").write_text('{"id": "' + name + '", "text": "p in my k"}\n')
    given = (notes, "-o", tmp_path / "out", "--to", "jsonl", "--model", model)
    run(*given)
    run(*given, "--skip-bad")
    assert "skipped: 2 " in run(*given).stderr
    with open(notes / "b.jsonl", "a") as stream:
        stream.write("{broken\n")
    assert "written: 1 " in run(*given, "--skip-bad").stderr
    said = run(*given, "--skip-bad").stderr
    assert "written: 0 " in said
    assert "skipped: 2 " in said
    with pytest.raises(DisconerError, match=r"b\.jsonl, line 2"):  # a line is missing in its output
        run(*given)


def test_the_order_of_labels_does_not_matter(model: Path) -> None:
    def made(labels: str | None) -> Any:
        return made_by(Settings(str(model), labels=labels))["labels"]

    assert made("Drug,Condition") == made("Condition, Drug,Drug") == "Condition,Drug"
    assert made("Drug") == "Drug"
    assert made(None) is None


def test_parts_and_single_outputs_do_not_share_a_folder(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    single, part = ("--to", "jsonl", "--model", model), ("--shard", "1/2", "--model", model)
    run(notes, "-o", out, *single)
    with pytest.raises(DisconerError, match="holds outputs of single inputs"):
        run(notes, "-o", out, *part, "--force")
    for path in out.glob("*.jsonl"):
        path.unlink()
    for _ in range(2):
        run(notes, "-o", out, *part)
        run(notes, "-o", out, "--shard", "2/2", "--model", model)
    for given in ((notes,), ("--text", "p")):
        with pytest.raises(DisconerError, match="holds the parts of a prediction with --shard or --ray"):
            run(*given, "-o", out, *single, "--force")
    (tmp_path / "ray" / ".disconer").mkdir(parents=True)
    (tmp_path / "ray" / ".disconer" / "part-000000.json").write_text("{}")
    with pytest.raises(DisconerError, match="holds the parts of a prediction"):
        run(notes, "-o", tmp_path / "ray", *single)


def test_inputs_may_have_the_names_of_parts(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "part-01-of-01.txt").write_text("p in my k")
    given = (tmp_path / "in", "-o", tmp_path / "out", "--to", "bioc-json", "--model", model)
    run(*given)
    assert (tmp_path / "out" / "part-01-of-01.json").exists()
    assert "skipped: 1" in run(*given).stderr


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
