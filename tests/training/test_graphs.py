"""Graphs that another process makes while a model is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer.store.checkpoint import save_model
from disconer.store.graphs import UNKNOWN, read_graphs
from disconer.training import graphs
from disconer.training.graphs import graphs_ahead
from nn.toy import letter_model
from once import graphs_once


@pytest.mark.slow
def test_graphs_of_another_process_are_those_that_this_one_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = letter_model()
    expected = graphs_once(tmp_path_factory, model)
    save_model(model, tmp_path)
    monkeypatch.setattr(graphs, "make_graphs", lambda model: pytest.fail("made again"))
    with graphs_ahead(tmp_path, now=True) as ahead:
        assert ahead.of(model) == expected
    assert read_graphs(tmp_path) is UNKNOWN  # the folder is the run's alone


@pytest.mark.slow
def test_if_the_other_process_fails_they_are_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "make_graphs", lambda model: "made here")
    with graphs_ahead(tmp_path / "no model", now=True) as ahead:
        assert ahead.of(letter_model()) == "made here"
