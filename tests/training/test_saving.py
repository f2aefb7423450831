"""The ends of epochs, saved beside the training."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from disconer import DisconerError
from disconer.runs.output_folder import Stateful
from disconer.store.checkpoint import Model, load_model
from disconer.training.predicted import PredictedModel
from disconer.training.state import EpochWriter, Progress, RunFolder, copied
from nn.toy import letter_model

HISTORY = [{"epoch": 1, "dev_f1": 0.5}]


def save(writer: EpochWriter, model: Model, progress: Progress, parts: dict[str, Stateful]) -> None:
    writer.save(PredictedModel(model, {}), model.network.state_dict(), progress, parts)


def test_what_is_saved_aside_is_what_was_there_when_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, optimizer = letter_model(), torch.optim.AdamW([torch.ones(3, requires_grad=True)])
    before = copied(model.network.state_dict())
    begun = []
    writer = EpochWriter(RunFolder(tmp_path), aside=True)
    write = RunFolder.save
    monkeypatch.setattr(RunFolder, "save", lambda *given: (begun.append(changed()), write(*given)))

    def changed() -> bool:
        """The next epoch, before anything is written."""
        with torch.no_grad():
            for parameter in model.network.parameters():
                parameter.add_(1)
        return True

    save(writer, model, Progress(list(HISTORY)), {"optimizer": optimizer})
    writer.finish()
    assert begun == [True]
    for folder in (tmp_path / "best", tmp_path / "last"):
        loaded = load_model(folder).network.state_dict()
        assert all(torch.equal(loaded[name], before[name]) for name in before)
    state = torch.load(tmp_path / "training.pt", weights_only=True)
    assert state["history"] == HISTORY
    assert all(torch.equal(state["network"][name], before[name]) for name in before)


def test_a_full_disk_is_told_when_the_next_epoch_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DisconerError("the disk is full")

    monkeypatch.setattr(RunFolder, "save", full)
    writer = EpochWriter(RunFolder(tmp_path), aside=True)
    save(writer, letter_model(), Progress(list(HISTORY)), {})
    with pytest.raises(DisconerError, match="the disk is full"):
        save(writer, letter_model(), Progress(list(HISTORY)), {})


@pytest.mark.parametrize("fails", [False, True])
def test_no_thread_is_left_behind(fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(*_: object) -> None:
        if fails:
            raise DisconerError("the disk is full")

    monkeypatch.setattr(RunFolder, "save", save)
    before = set(threading.enumerate())
    writer = EpochWriter(RunFolder(tmp_path), aside=True)
    with pytest.raises(DisconerError) if fails else nullcontext(), writer:
        save(writer, letter_model(), Progress(list(HISTORY)), {})
    assert not set(threading.enumerate()) - before


def test_who_stops_a_training_may_resume_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def slow(*_: object) -> None:
        time.sleep(0.2)
        written.append(True)

    monkeypatch.setattr(RunFolder, "save", slow)
    writer = EpochWriter(RunFolder(tmp_path), aside=True)
    save(writer, letter_model(), Progress(list(HISTORY)), {})
    with pytest.raises(KeyboardInterrupt), writer:
        raise KeyboardInterrupt
    assert written == [True]
