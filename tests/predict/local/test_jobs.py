"""Real workers, each a process that loads a model: few tests, as each start takes seconds."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from disconer import BadInput, DisconerError, read
from disconer.cli import app
from disconer.core.ledger import Ledger
from disconer.formats import format_named
from disconer.predict.inputs import WHOLE
from disconer.predict.local.folder_record import FolderRecord
from disconer.predict.local.jobs import Jobs
from disconer.predict.local.messages import Task
from disconer.predict.settings import Settings
from disconer.predict.walk import BLOCK_RECORDS

pytestmark = pytest.mark.slow

N = 2 * BLOCK_RECORDS + 100  # three blocks
PADDING = "x" * 100  # makes an input large enough for two workers; extras are not looked at


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notes") / "in.jsonl"
    with open(path, "w") as stream:
        for number in range(N):
            record = {"id": f"d{number}", "text": f"p {'in my ' * (number % 5)}k", "extras": {"padding": PADDING}}
            stream.write(json.dumps(record) + "\n")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["predict", *map(str, arguments)], catch_exceptions=False)


def workers_of(parent: int) -> list[int]:
    """The worker processes that a process has started."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    found = [line.split(maxsplit=2) for line in listed.splitlines()]
    return [int(pid) for pid, ppid, command in found if int(ppid) == parent and "predict.local.worker" in command]


@pytest.mark.parametrize("suffix", ["jsonl", "xml"])
def test_one_output_however_many_workers(notes: Path, model: Path, tmp_path: Path, suffix: str) -> None:
    one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    format = {"jsonl": "jsonl", "xml": "bioc-xml"}[suffix]
    told = f"({format}), from {N:,} documents with 2,578 entities"
    assert run(notes, "-o", one, "--to", format, "--model", model).stderr == f"written: {one} {told}\n"
    assert run(notes, "-o", two, "--to", format, "--model", model, "--jobs", 2).stderr == f"written: {two} {told}\n"
    assert two.read_bytes() == one.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [one.name, two.name]
    assert workers_of(os.getpid()) == []


def test_a_part_is_made_once(notes: Path, model: Path, tmp_path: Path) -> None:
    arguments = (notes, "-o", tmp_path, "--model", model, "--shard", "2/3")
    assert run(*arguments).stderr == f"written: {BLOCK_RECORDS:,} documents in {tmp_path}/part-02-of-03.jsonl\n"
    assert {path.name for path in tmp_path.iterdir()} == {"part-02-of-03.jsonl", "part-02-of-03.json"}
    assert run(*arguments).stderr == f"skipped: shard 2/3 is already in {tmp_path} (--force predicts it again)\n"
    with pytest.raises(DisconerError, match="of another input, model or settings"):
        run(*arguments, "--threshold", 0.5)
    texts = notes.read_text()
    try:
        notes.write_text(texts.replace('"p in my k"', '"k in my p"', 1))  # of another shard, but read by this one, too
        with pytest.raises(DisconerError, match=r"same names and sizes of files, but with another content.*--force"):
            run(*arguments)
    finally:
        notes.write_text(texts)
    (tmp_path / "part-02-of-03.json").unlink()  # as if it had been broken off
    Path(tmp_path, "part-02-of-03.jsonl").write_text("half of i")
    assert "written" in run(*arguments).stderr
    assert next(read(tmp_path / "part-02-of-03.jsonl")).id == f"d{BLOCK_RECORDS}"


def test_a_killed_worker_stops_all_and_work_is_gone_on_with(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = Settings(str(model))
    record = FolderRecord.open(out, format_named("brat"), settings, force=False)
    record.save()
    task = Task(((str(notes), None),), settings, WHOLE, str(out), to="brat", made_by=record.made_by)
    tasks = [replace(task, share=share) for share in WHOLE.split(2)]
    running = Jobs(tasks, Ledger()).run()
    next(running)
    workers = workers_of(os.getpid())
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    with pytest.raises(DisconerError, match=r"Worker 1 of 2 exited before .* Got signal 9 \(SIGKILL\)"):
        list(running)
    assert workers_of(os.getpid()) == []
    there = len(list(out.glob("*.ann")))
    assert 0 < there < N
    told = run(notes, "-o", out, "--model", model, "--jobs", 2).stderr
    assert told.startswith(
        f"written: {N - there:,} documents in {out}\n"
        f"skipped: {there:,} document{'s' * (there > 1)} already there (--force predicts them again)\n"
    )


def test_what_a_worker_raises_is_raised_here(notes: Path, model: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(notes.read_text() + "{broken\n")
    with pytest.raises(BadInput, match=re.escape(f"{bad}, line {N + 1}: This is not JSON")):
        run(bad, "-o", tmp_path / "out.jsonl", "--model", model, "--jobs", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]
    with pytest.raises(DisconerError, match="has no label 'Drug'"):
        run(notes, "-o", tmp_path / "out.jsonl", "--model", model, "--jobs", 2, "--labels", "Drug")


def test_no_process_outlives_the_command(notes: Path, model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "disconer", "predict", notes, "-o", tmp_path / "out", "--model", model, "-j", "2"]
    started = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL)
    while len(workers := workers_of(started.pid)) < 2:
        time.sleep(0.1)
        assert started.poll() is None
    started.kill()  # it has no chance to end them
    started.wait()
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_little_input_needs_no_workers(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Jobs, "run", lambda self: pytest.fail("a worker was started"))
    assert "p … k" in run("--text", "p in my k", "--jobs", 8, "--model", model).stdout
    given = CliRunner().invoke(
        app, ["predict", "-", "-j", "8", "--to", "jsonl", "--model", str(model)], input="p in my k"
    )
    assert json.loads(given.stdout)["entities"][0]["fragments"] == [[0, 1], [8, 9]]


def test_shards_say_what_they_need(notes: Path, model: Path) -> None:
    for arguments in (["--shard", "1/2"], ["--shard", "1/2", "-o", "out", "--to", "brat"]):
        with pytest.raises(DisconerError, match="A shard is written as a part"):
            run(notes, "--model", model, *arguments)
    with pytest.raises(DisconerError, match="K from 1 to N"):
        run(notes, "--model", model, "--shard", "3/2", "-o", "out")
