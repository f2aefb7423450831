"""What tests of adaptation share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from adapt.tiny import tiny_encoder, write_notes
from once import trainings_make_no_graphs

__all__ = ["trainings_make_no_graphs"]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    """The order in which numbers are added up must not change from one run to the next."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny BERT without a head."""
    return str(tiny_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of notes."""
    return write_notes(tmp_path_factory.mktemp("texts") / "notes")
