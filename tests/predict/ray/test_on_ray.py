"""The same on a real Ray: few tests, as every actor that starts loads a model. They share one Ray."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest

pytest.importorskip("ray", reason="needs Ray: pip install 'disconer[ray]'")

import ray
from typer.testing import CliRunner, Result

import disconer.predict.ray.stream  # noqa: F401  # imports Ray Data, which wakes its loggers: before they are quieted
from disconer import BadInput, DisconerError, read
from disconer.cli import app
from disconer.predict.ray import cluster as ray_cluster
from disconer.predict.ray.cluster import joined
from disconer.predict.ray.plan import HERE
from disconer.predict.walk import BLOCK_RECORDS

pytestmark = pytest.mark.slow

N = 30 * BLOCK_RECORDS + 100

# A machine that tests may be busy: Ray is to take no process for dead that is only slow, and to kill none because
# others use up the memory. How long it waits as it starts cannot be set, so that is tried more often.
STARTS = 6
PATIENT = {
    "RAY_health_check_failure_threshold": "100",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_gcs_server_request_timeout_seconds": "600",
    "RAY_memory_monitor_refresh_ms": "0",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("notes") / "in.jsonl"
    with open(path, "w") as stream:
        for number in range(N):
            stream.write(json.dumps({"id": f"d{number}", "text": f"p {'in my ' * (number % 5)}k"}) + "\n")
    return path


@pytest.fixture(scope="module")
def two_actors() -> Iterator[None]:
    """A Ray for all tests, with room for two actors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_cluster, "STARTS", STARTS)
        patch.delenv(ray_cluster.ADDRESS_VARIABLE, raising=False)
        for name, value in PATIENT.items():
            patch.setenv(name, value)
        with joined(HERE, 2, 0) as room:
            assert room == 2
            yield


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["predict", *map(str, arguments)], catch_exceptions=False)


def actors() -> list[int]:
    """The processes of our Ray that are predicting now."""
    ours = psutil.Process().children(recursive=True)
    return [one.pid for one in ours if one.is_running() and "MapWorker(Map(Finder)).submit" in one.name()]


@contextmanager
def one_killed_after(sign: Path) -> Iterator[list[int]]:
    """Kill an actor at work as soon as a file is there, if the block lasts so long: its process."""
    killed: list[int] = []
    over = Event()

    def kill() -> None:
        while not killed and not over.wait(0.02):
            if sign.exists() and (working := actors()):
                os.kill(working[0], signal.SIGKILL)
                killed.append(working[0])

    killer = Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        over.set()
        killer.join()


@pytest.mark.usefixtures("two_actors")
def test_an_actor_is_killed_and_nothing_is_lost_doubled_or_moved(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with one_killed_after(out / ".disconer" / "part-000000.json") as killed:
        told = run(notes, "-o", out, "--model", model, "--ray").stderr
    assert killed
    assert told == f"written: {N:,} documents in 4 parts in {out}\n"
    run(notes, "-o", tmp_path / "plain.jsonl", "--model", model)
    found = b"".join(part.read_bytes() for part in sorted(out.glob("part-*")))
    assert found == (tmp_path / "plain.jsonl").read_bytes()


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        (folder / f"d{number}.txt").write_text("p in my k")
    return folder


@pytest.mark.usefixtures("two_actors")
def test_parquet_by_url(texts: Path, model: Path, tmp_path: Path) -> None:
    told = run(f"file://{texts}", "-o", f"file://{tmp_path}/out", "--to", "parquet", "--model", model, "--ray").stderr
    assert told == f"written: 3 documents in 1 part in file://{tmp_path}/out\n"
    run(texts, "-o", tmp_path / "plain.jsonl", "--model", model)
    assert list(read(tmp_path / "out")) == list(read(tmp_path / "plain.jsonl"))


@pytest.mark.usefixtures("two_actors")
def test_errors_are_those_of_everywhere(texts: Path, model: Path, tmp_path: Path) -> None:
    (texts / "d3.txt").write_bytes(b"\xff")
    with pytest.raises(BadInput, match=rf"{texts}/d3.txt, line 1: This is not UTF-8"):
        run(texts, "-o", tmp_path / "out", "--model", model, "--ray")


@pytest.mark.usefixtures("two_actors")
def test_one_processor_stays_free() -> None:
    with joined(HERE, None, 0) as room:
        assert room == 2  # of three that Ray counts
    with pytest.raises(DisconerError, match=r"no room for 3 actors. Got 3 CPUs, of which one must stay free, expected"):
        joined(HERE, 3, 0).__enter__()
    with pytest.raises(DisconerError, match=r"no room for even one actor. Got 3 CPUs.* and 0 GPUs"):
        joined(HERE, None, 0.5).__enter__()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ray://head:10001", r"Ray's client cannot stream data.*ray job submit"),
        ("notes.jsonl", r"This is not the address of a Ray cluster. Got 'notes.jsonl', expected auto, or HOST:PORT"),
    ],
)
def test_addresses_that_cannot_be(address: str, said: str) -> None:
    with pytest.raises(DisconerError, match=said):
        ray_cluster._checked(address)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ray.exceptions.ActorDiedError(), "Actors died repeatedly.*run the same command again"),
        (ray.exceptions.OutOfMemoryError("90 %"), "Ray has run out of memory. Got 90 %.*fewer --actors"),
        (ray.exceptions.RaySystemError("gcs\nis gone"), "Ray failed. Got System error: gcs. .*--debug"),
    ],
)
def test_errors_of_ray_are_said_in_our_words(error: Exception, said: str) -> None:
    with pytest.raises(DisconerError, match=said), ray_cluster.translated():
        raise error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ray", "--jobs", 2, "-o", "out"], "Ray distributes the work itself"),
        (["--ray", "--shard", "1/2", "-o", "out"], "Ray distributes the work itself"),
        (["--ray", "--device", "cuda:1", "-o", "out"], "--gpus-per-actor"),
        (["--ray"], "With --ray the output is a folder of parts"),
        (["--ray", "-o", "out.jsonl"], r"out.jsonl: With --ray the output is a folder.*Got the name of a .jsonl file"),
        (["--ray", "-o", "out", "--to", "brat"], "Got --to brat"),
        (["--actors", 2], "need --ray"),
        (["--gpus-per-actor", 0.5], "need --ray"),
        (["-o", "s3://bucket/out"], r"s3://bucket/out: A remote output needs --ray"),
    ],
)
def test_options_that_do_not_go_together(notes: Path, model: Path, arguments: list[object], said: str) -> None:
    with pytest.raises(DisconerError, match=said):
        run(notes, "--model", model, *arguments)


def test_without_ray_it_says_what_to_install(notes: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disconer.predict.ray.plan.find_spec", lambda name: None)
    with pytest.raises(DisconerError, match=r"ray, pyarrow, fsspec. Install them: pip install 'disconer\[ray\]'"):
        run(notes, "--model", model, "--ray", "-o", "out")


def test_plain_commands_never_import_ray(notes: Path, model: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from disconer.cli import app\n"
        "try: app(sys.argv[1:])\n"
        "finally: print({name.split('.')[0] for name in sys.modules} & {'ray', 'pyarrow', 'fsspec'})"
    )
    text = tmp_path / "a.txt"
    text.write_text("p in my k")
    for arguments in (["--help"], ["predict", "--help"], ["stats", str(text)]):
        ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
        assert ran.stdout.splitlines()[-1] == "set()", arguments
