"""The model learns: entities of every kind are over-fitted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from disconer import Kind
from disconer.training import train
from training.synthetic import complaints, prepare

pytestmark = pytest.mark.slow


def test_every_kind_is_learnt(tmp_path: Path) -> None:
    documents = complaints(40)
    kinds = Counter(entity.kind for document in documents for entity in document.entities)
    assert min(kinds[kind] for kind in Kind) >= 10
    config = prepare(tmp_path, documents, documents, epochs=40, patience=40, encoder_rate=1e-3, head_rate=3e-3)
    result = train(config, tmp_path / "run")
    assert result.dev.overall.f1 >= 0.99
