"""A model that tests of batches share."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer.store.checkpoint import save_model
from nn.toy import letter_model
from once import with_graphs_once


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(with_graphs_once(tmp_path_factory, letter_model()), folder)
    return folder
