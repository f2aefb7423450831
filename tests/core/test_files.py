"""Files that are replaced whole or not at all, also on a full disk."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from disconer import DisconerError
from disconer.core.files import replace_file, replacing
from disconer.runs.state import save_state


@pytest.fixture
def small_disk() -> Iterator[int]:
    """No file may grow beyond this: writes fail in the same way as on a full disk."""
    size = 2**16
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    yield size
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


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


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="mine"), replacing(tmp_path / "a"):
        raise OSError(errno.EIO, "mine")
    assert not list(tmp_path.iterdir())
