from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from disconer import BadInput, DisconerError, Document, read, write
from disconer.cli import app
from disconer.core.errors import DisconerWarning
from disconer.store.checkpoint import save_model
from disconer.text import segment
from nn.toy import letter_model
from once import with_graphs_once


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that finds the words p and k, and p … k."""
    folder = tmp_path_factory.mktemp("model")
    save_model(with_graphs_once(tmp_path_factory, letter_model()), folder)
    return folder


@pytest.fixture(autouse=True)
def default_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCONER_MODEL", str(model))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in (("a", "p in my k"), ("b", "no k"), ("c", "nothing")):
        (folder / f"{name}.txt").write_text(text)
    return folder


def run(*arguments: object, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(app, ["predict", *map(str, arguments)], input=stdin, catch_exceptions=False)


SHOWN = """\
p in my k
━┄┄┄┄┄┄┄━ ADR

ADR  discontinuous  p … k  0–1, 8–9  0.77
"""


def test_a_text_is_shown() -> None:
    assert run("--text", "p in my k").stdout == SHOWN


def test_a_splitter_without_effect_is_said_once(tmp_path: Path) -> None:
    write([segment(Document(id, "had p. Then had k.")) for id in ("a", "b")], tmp_path / "a.jsonl")
    usual = (tmp_path / "a.jsonl", "--to", "jsonl")
    with pytest.warns(DisconerWarning, match="already has sentences.* the splitter 'lines' is only used for") as caught:
        lines = run(*usual, "--splitter", "lines").stdout
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(*usual).stdout == lines
        run("--text", "had p.", "--splitter", "lines")


def test_the_sentence_splitter_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("had p. Then had k.")
    for source in (("--text", "had p. Then had k."), (tmp_path / "note.txt",)):
        assert "p … k" not in run(*source).stdout
        assert "p … k" not in run(*source, "--splitter", "rules").stdout
        assert "p … k" in run(*source, "--splitter", "lines").stdout
    assert run("--text", "p", "--splitter", "words").exit_code == 2


@pytest.mark.parametrize("format", ["jsonl", "bioc-xml", "brat"])
def test_a_text_is_written_as_a_file_with_it_is(tmp_path: Path, format: str) -> None:
    """A text takes a way of its own, which ends where that of a file does: in one file, a folder, or on stdout."""
    (tmp_path / "text.txt").write_text("p in my k")
    given = {"text": ("--text", "p in my k"), "file": (tmp_path / "text.txt",)}
    written: dict[str, dict[str, bytes]] = {}
    for name, source in given.items():
        out = tmp_path / name
        first = run(*source, "--to", format, "-o", out)
        assert re.search(rf"^written: 1 \w+ in {out}$", first.stderr, re.MULTILINE)
        assert "skipped: 1" in run(*source, "--to", format, "-o", out).stderr
        assert "written: 1" in run(*source, "--to", format, "-o", out, "--force").stderr
        if format != "brat":
            said = run(*source, "--to", format, "-o", out / "single.x").stderr
            assert said.startswith(f"written: {out / 'single.x'} ({format}), from 1 document with 1 entity\n")
            (out / "stdout").write_bytes(run(*source, "--to", format).stdout_bytes)
        written[name] = {path.name: path.read_bytes() for path in out.glob("[!.]*")}
    assert written["text"] == written["file"]
    assert len(written["text"]) == 3


def test_a_text_is_not_shared_out() -> None:
    for option in (["--shard", "1/2", "-o", "out"], ["--ray", "-o", "out"]):
        with pytest.raises(DisconerError, match="--text cannot be combined with --ray or --shard"):
            run("--text", "p", *option)


def test_files_are_shown_under_their_names(notes: Path) -> None:
    shown = run(notes).stdout
    assert shown.startswith(f"a\n{SHOWN}\nb\nno k\n")
    assert shown.endswith("\n\nc\nnothing\n\nno entities\n")


def test_stdin_is_plain_text_or_lines_of_documents() -> None:
    assert run("-", stdin="p in my k").stdout == f"stdin\n{SHOWN}"
    assert run("-", stdin='{"p": "in my k"}').stdout.startswith("stdin\n")
    lines = "".join(json.dumps({"id": id, "text": "p in my k"}) + "\n" for id in "xy")
    for options in ((), ("--from", "jsonl")):
        found = [json.loads(line) for line in run("-", *options, "--to", "jsonl", stdin=lines).stdout.splitlines()]
        assert [(one["id"], one["entities"][0]["fragments"]) for one in found] == [
            (id, [[0, 1], [8, 9]]) for id in ("x", "y")
        ]
    (one,) = [json.loads(line) for line in run("-", "--from", "text", "--to", "jsonl", stdin=lines).stdout.splitlines()]
    assert one["text"] == lines


def test_lines_of_documents_on_stdin_may_begin_with_a_byte_order_mark() -> None:
    """They were taken for prose, and their JSON for its words."""
    line = json.dumps({"id": "x", "text": "p in my k"})
    for stdin in (f"\ufeff{line}\r\n", line):
        (one,) = map(json.loads, run("-", "--to", "jsonl", stdin=stdin).stdout.splitlines())
        assert one["id"] == "x"


def test_other_json_on_stdin_is_no_prose_unless_told_so() -> None:
    for record in ({"text": "p"}, {"id": 1, "text": "p", "label": [[0, 1, "A"]]}):
        line = json.dumps(record)
        with pytest.raises(DisconerError, match=r"^stdin: This JSON is not disconer's own\. Got objects with .*text"):
            run("-", stdin=line)
        assert run("-", "--from", "text", stdin=line).stdout.startswith("stdin\n")
    assert run("-", "--from", "doccano", stdin=line).stdout.startswith("1\n")


def test_odd_texts() -> None:
    for text in ("", " \n\t", "👩\u200d🚀 e\u0301", "\x00", "a" * 5000):
        assert run("--text", text).exit_code == 0
    assert run("-", stdin="p 👩\u200d🚀 k".encode()).stdout.endswith("p … k  0–1, 6–7  0.77\n")
    with pytest.raises(BadInput, match="This is not UTF-8"):
        run("-", stdin=b"\xff\xfe")


@pytest.mark.parametrize("jobs", [(), pytest.param(("--jobs", "2"), marks=pytest.mark.slow)])
def test_messages_name_stdin(tmp_path: Path, jobs: tuple[str, ...]) -> None:
    lines = 'no json\n{"id": "d", "text": "p"}\n'
    usual = ("-", "--from", "jsonl", "-o", tmp_path / "a.jsonl", *jobs)
    with pytest.raises(BadInput, match=r"^stdin, line 1: This is not JSON"):
        run(*usual, stdin=lines)
    assert "skipped: stdin, line 1: This is not JSON" in run(*usual, "--skip-bad", stdin=lines).stderr


def test_pubtator_on_stdin_is_no_prose_unless_told_so() -> None:
    lines = "1|t|p\n1|a|k\n"
    with pytest.raises(DisconerError, match=r"^stdin: This is PubTator's own format"):
        run("-", stdin=lines)
    assert run("-", "--from", "text", stdin=lines).stdout.startswith("stdin\n")


@pytest.mark.parametrize("format", ["jsonl", "bioc-xml", "bioc-json", "pubannotation", "bigbio", "w2ner", "biohd"])
def test_every_kind_of_output(notes: Path, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out.x"
    ran = run(notes, "--to", format, "-o", out)
    assert "sentences" not in ran.stderr  # those that are lost are only the model's own
    fragments = [list(map(tuple, entity.fragments)) for document in read(out, format) for entity in document.entities]
    assert fragments == [[(0, 1), (8, 9)], [(3, 4)]]
    assert run(notes, "--to", format).stdout_bytes == out.read_bytes()


def test_one_file_for_all(notes: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl.gz"
    said = run(notes / "c.txt", notes / "a.txt", "-o", out).stderr
    assert said == f"written: {out} (jsonl), from 2 documents with 1 entity\n"
    assert [document.id for document in read(out)] == ["c", "a"]
    with pytest.raises(DisconerError, match="already exists"):
        run(notes, "-o", out)
    run(notes, "-o", out, "--force")
    assert [document.id for document in read(out)] == ["a", "b", "c"]


def test_a_folder_is_gone_on_with(notes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(notes, "-o", out).stderr == f"written: 3 documents in {out}\nlost: 2 scores\n"
    names = sorted(path.name for path in out.glob("[!.]*") if path.name != "annotation.conf")
    assert names == [f"{n}.{s}" for n in "abc" for s in ("ann", "txt")]
    (notes / "d.txt").write_text("p")
    said = run(notes, "-o", out).stderr
    assert f"written: 1 document in {out}\n" in said
    assert "skipped: 3 documents already there (--force predicts them again)\n" in said
    assert "written: 4 documents" in run(notes, "-o", out, "--force").stderr
    assert "written: 4 files" in run(notes, "-o", tmp_path / "other", "--to", "bioc-xml").stderr
    assert (tmp_path / "other" / "d.xml").is_file()


def test_files_of_other_programs_are_not_passed_over_in_silence(notes: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(notes, "-o", tmp_path / "first")
    for name in ("c.pdf", "d.PDF", "e.docx", "f.text", "g"):
        (notes / name).write_bytes(b"%PDF")
    said = f"not read in {notes}: 1 .docx, 2 .pdf, 1 .text, 1 without a suffix; save texts as plain text (.txt) first"
    with pytest.warns(DisconerWarning, match=re.escape(said)):
        run(notes, "-o", tmp_path / "second")
    with pytest.warns(DisconerWarning, match=re.escape(said)):
        run(notes, "-o", tmp_path / "third", "--from", "text")


def test_texts_beside_earlier_output_are_not_passed_over_in_silence(notes: Path, tmp_path: Path) -> None:
    write([Document("a", "no k")], notes / "found.jsonl")
    with pytest.warns(
        DisconerWarning, match=r"read as jsonl; files of .* left out: a\.txt \(text\), b\.txt \(text\), c"
    ):
        assert "lost: 3 files of other formats" in run(notes, "-o", tmp_path / "found.jsonl").stderr


def test_annotations_beside_texts_to_predict_are_nothing_left_out(notes: Path, tmp_path: Path) -> None:
    (notes / "a.ann").write_text("")
    (notes / "annotation.conf").write_text("[entities]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "3 documents" in run(notes, "-o", tmp_path / "found.jsonl").stderr


def test_labels_and_threshold() -> None:
    text = ("--text", "p in my k")
    assert "discontinuous" in run(*text, "--labels", "ADR", "--threshold", "0.7").stdout
    assert "no entities" in run(*text, "--threshold", "0.8").stdout
    with pytest.raises(DisconerError, match=r"has no label 'Drug'\. Expected some of ADR"):
        run(*text, "--labels", "ADR, Drug")
    with pytest.raises(DisconerError, match=r"Did you mean 'ADR'\?"):
        run(*text, "--labels", "ADRs")
    assert run(*text, "--threshold", "7").exit_code == 2


def test_a_low_threshold_finds_more() -> None:
    text = ("--text", "Severe pain in hands after aspirin; renal or hepatic impairment", "--model", "clinical-trials")
    reported, more = (
        {(one["label"], str(one["fragments"])): one["score"] for one in json.loads(found.stdout)["entities"]}
        for found in (run(*text, "--to", "jsonl"), run(*text, "--to", "jsonl", "--threshold", "0.1"))
    )
    assert more.items() > reported.items()
    assert 0.1 <= min(more.values()) < min(reported.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either inputs or a text"),
        (["--text", "a", "notes"], "either inputs or a text"),
        (["nowhere"], "nowhere: There is no such file or folder"),
        (["p in my k"], "'p in my k': There is no such file or folder. Check the path. For a text"),
        (["p in my k " * 100], "For a text instead of a file: --text"),
        (["notes", "-o", "out.html"], "draw it: disconer render found.jsonl -o out.html"),
        (["notes", "--to", "brat"], "brat is written as a folder"),
        (["notes", "--to", "text"], "'text' can be read but not written"),
        (["notes", "--to", "brit"], "There is no format 'brit'"),
        (["notes", "-o", "out.what"], "The output format cannot be told from the file name"),
        (["notes", "-o", "notes"], "The output folder is inside the input"),
        (["notes", "-o", "notes/found"], "The output folder is inside the input"),
        (["notes", "-o", "notes/found.jsonl"], "The output file is inside the input"),
        (["notes/a.txt", "notes", "-o", "notes/sub/found.jsonl"], "The output file is inside the input"),
        (["notes", "-o", "out", "--model", "nowhere"], "There is no such model"),
        (["notes", "--to", "brat", "-o", "notes/a.txt"], "The output folder is an existing file"),
        (["notes", "--model", "notes"], "There is no model here"),
        (["--text", "a", "--labels", "Drug,,Condition"], "--labels: A label has no name. Got 'Drug,,Condition'"),
        (["notes", "-o", "out.jsonl", "--labels", ""], "--labels: A label has no name. Got ''"),
        (["notes", "--to", "jsonl", "-o", "/dev/stdout"], "prints its output without --out"),
        (["notes", "--to", "brat", "-o", "/dev/full"], "/dev/full: Output goes to a temporary file"),
        (["notes", "--shard", "1/2", "-o", "/dev/stdout"], "cannot be written to a device or pipe"),
    ],
)
def test_what_cannot_be_done(notes: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(notes.parent)
    monkeypatch.setattr("disconer.nn.encoders.hub.why_not_on_hub", lambda name: "no internet")
    with pytest.raises(DisconerError, match=re.escape(message)):
        run(*arguments)


def test_bad_input_can_be_skipped(tmp_path: Path) -> None:
    write([Document("x", "p in my k")], tmp_path / "in.jsonl")
    with open(tmp_path / "in.jsonl", "a") as stream:
        stream.write("{broken\n")
    with pytest.raises(BadInput, match="line 2"):
        run(tmp_path / "in.jsonl")
    ran = run(tmp_path / "in.jsonl", "--skip-bad")
    assert "p … k" in ran.stdout
    assert "skipped: 1 bad-syntax" in ran.stderr


@pytest.mark.slow
def test_on_a_terminal_and_quiet() -> None:
    """The whole command, in a process of its own: colours on a terminal, and not a word on stderr."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "disconer", "predict", "--text", "p in my k"]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "OMP_NUM_THREADS": "1"}
    environment.pop("NO_COLOR", None)
    ran = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, env=environment, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "\x1b[36m━┄┄┄┄┄┄┄━ ADR\x1b[0m" in shown
    assert ran.stderr == b""
