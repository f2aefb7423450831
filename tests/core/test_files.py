"""Files that are replaced whole or not at all, also on a full disk; locks on files."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from disconer import DisconerError
from disconer.core import files
from disconer.core.files import append_line, locked, replace_file, replacing
from disconer.runs.output_folder import save_state


def test_a_full_disk_is_said_and_the_old_file_kept(tmp_path: Path, small_disk: int) -> None:
    path = tmp_path / "weights"
    replace_file(path, b"old")
    with pytest.raises(DisconerError, match=r"weights: This file could not be written: the disk is full.*--resume"):
        replace_file(path, b"x" * (small_disk + 1))
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["weights"]  # nothing that keeps the disk full


def test_a_full_disk_under_torch(tmp_path: Path, small_disk: int) -> None:
    path = tmp_path / "training.pt"
    save_state({"weights": torch.zeros(10)}, path)
    with pytest.raises(DisconerError, match="the disk is full"):
        save_state({"weights": torch.zeros(small_disk)}, path)
    assert torch.load(path, weights_only=True)["weights"].shape == (10,)
    assert [file.name for file in tmp_path.iterdir()] == ["training.pt"]


def test_a_full_disk_when_a_line_is_added(tmp_path: Path, small_disk: int) -> None:
    append_line(tmp_path / "lines", b"one")
    with pytest.raises(DisconerError, match=r"lines: This file could not be written: the disk is full"):
        append_line(tmp_path / "lines", b"x" * (small_disk + 1))
    append_line(tmp_path / "lines", b"two")
    assert (tmp_path / "lines").read_bytes() == b"one\ntwo\n"


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="mine"), replacing(tmp_path / "a"):
        raise OSError(errno.EIO, "mine")
    assert not list(tmp_path.iterdir())


# Locks


def test_a_lock_lives_as_long_as_the_process_that_inherits_it(tmp_path: Path) -> None:
    with locked(tmp_path / "lock") as lock:
        assert lock is not None
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,))
    with locked(tmp_path / "lock") as second:
        assert second is None
    process.communicate(b"\n")
    with locked(tmp_path / "lock") as third:
        assert third is not None


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    order = []

    def second() -> None:
        with locked(tmp_path / "lock", wait=True):
            order.append("second")

    with locked(tmp_path / "lock"):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second"]


def test_the_file_is_removed_by_who_holds_it(tmp_path: Path) -> None:
    with locked(tmp_path / "lock", remove=True):
        with locked(tmp_path / "lock", remove=True) as second:
            assert second is None
        assert (tmp_path / "lock").exists()
    assert not (tmp_path / "lock").exists()


def test_never_two_at_a_time_while_files_are_removed(tmp_path: Path) -> None:
    counts = {"inside": 0, "most": 0, "times": 0}

    def work() -> None:
        for _ in range(200):
            with locked(tmp_path / "lock", wait=True, remove=True):
                counts["inside"] += 1
                counts["most"] = max(counts["most"], counts["inside"])
                counts["times"] += 1
                time.sleep(0)
                counts["inside"] -= 1

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert counts == {"inside": 0, "most": 1, "times": 800}


@pytest.mark.parametrize("wait", [False, True])
def test_a_file_system_without_locks_is_used_without(
    wait: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    with locked(tmp_path / "lock", wait=wait) as lock:
        assert lock == -1


def test_other_errors_are_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(files.fcntl, "flock", fail)
    with pytest.raises(OSError, match="Input/output"), locked(tmp_path / "lock"):
        pass
