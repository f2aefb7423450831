from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from annotate.running import annotating, folder_of, word_finder
from disconer.annotate import trainer
from disconer.annotate.project import Project, Settings
from disconer.annotate.trainer import divide
from disconer.cli import app
from disconer.cli.annotate import load_suggester
from disconer.core import plugins
from disconer.core.errors import DisconerError
from disconer.core.types import Document, Entity
from disconer.formats import write
from disconer.start.splits import BY_ID
from serve.browser import open_browser, open_page
from training.launch import WITHOUT_GRAPHS
from training.synthetic import complaints, save_encoder

SMALL = ("training.epochs=3", "training.steps_at_least=0", "training.batch_tokens=64", "training.head_rate=0.01")


@pytest.fixture(autouse=True)
def _without_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "PROGRAM", (sys.executable, str(WITHOUT_GRAPHS)))


def done_folder(path: Path, n: int) -> Path:
    """A folder of documents that are all done."""
    write(complaints(n), path)
    lines = [json.dumps({"id": f"complaint-{number}", "done": True}) for number in range(n)]
    return folder_of(path, {".disconer/done.jsonl": "\n".join(lines) + "\n"})


def test_what_was_trained_on_is_never_measured_on_later() -> None:
    entity = Entity("ADR", ((0, 1),))
    documents = [Document(f"d{number}", "x", (entity,) * (number % 3 == 0)) for number in range(60)]
    trained: set[str] = set()
    for n in range(2, 60):
        train, dev = divide(documents[:n])
        assert any(document.entities for document in dev)
        assert len(train) + len(dev) == n
        assert trained.isdisjoint(document.id for document in dev)
        trained |= {document.id for document in train}
    assert 5 < len(dev) < 20
    with pytest.raises(DisconerError, match="Too few documents are done"):
        divide(documents[:1])


def test_few_documents_are_not_trained_on_if_they_are_held_out_later() -> None:
    entity = Entity("ADR", ((0, 1),))
    n_divided = 0
    for group in range(200):
        documents = [Document(f"{group}-{number}", "x", (entity,) * (number % 2)) for number in range(8)]
        trained: set[str] = set()
        for n in range(2, 8):
            with suppress(DisconerError):
                train, dev = divide(documents[:n])
                n_divided += 1
                assert any(document.entities for document in dev)
                assert trained.isdisjoint(document.id for document in dev)
                trained |= {document.id for document in train}
    assert 1000 < n_divided < 1200
    held_out = [document for number in range(20) if BY_ID.order((document := Document(f"d{number}", "x")).id)[0] < 50]
    with pytest.raises(DisconerError, match="Got 2, all held out to measure F1, expected more"):
        divide(held_out[:2])


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with annotating(done_folder(tmp_path / "notes", 4)) as server:
        monkeypatch.setattr(plugins, "TRAIN", ("surely_not_installed",))
        status, _, answer = server.ask("POST", "/v1/training", {})
        assert status == 422
        assert "surely_not_installed" in answer["message"]
        assert "pip install 'disconer[train]'" in answer["message"]
        assert server.ask("GET", "/v1/training")[2]["state"] == "idle"


def test_documents_without_entities_are_not_trained_on(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"a.txt": "Well.", "b.txt": "Fine."})
    project = Project(Settings(path=folder), word_finder)
    for id in "ab":
        project.workspace("annotator").mark(id, done=True, by="annotator")
    with pytest.raises(DisconerError, match="no entities to learn from"):
        project.train("annotator")
    assert project.trainer.status().state == "idle"


def test_a_training_is_stopped_before_its_process_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, stopped = Event(), Event()

    def slow_start(*args: Any, **settings: Any) -> subprocess.Popen[bytes]:
        asked.set()
        assert stopped.wait(50)
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    monkeypatch.setattr(trainer, "subprocess", SimpleNamespace(Popen=slow_start, DEVNULL=subprocess.DEVNULL))
    project = Project(Settings(path=done_folder(tmp_path / "notes", 12)), word_finder)
    for _ in range(2):  # the process of a first training is none of the second
        project.train("annotator")
        assert asked.wait(50)
        project.trainer.stop()
        stopped.set()
        start = time.monotonic()
        assert project.trainer.wait().state == "stopped"
        assert time.monotonic() - start < 50  # and not the 60 of its process
        asked.clear()
        stopped.clear()


def test_a_training_is_stopped_while_its_data_are_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(Settings(path=done_folder(tmp_path / "notes", 12)), word_finder)
    prepare = trainer.prepare

    def stopped_amid(*args: Any) -> Any:
        assert project.trainer.status().state == "preparing"
        project.trainer.stop()
        return prepare(*args)

    monkeypatch.setattr(trainer, "prepare", stopped_amid)
    monkeypatch.setattr(trainer, "PROGRAM", (sys.executable, "-c", "import time; time.sleep(60)"))
    project.train("annotator")
    start = time.monotonic()
    assert project.trainer.wait().state == "stopped"
    assert time.monotonic() - start < 50  # and not the 60 of its process


@pytest.mark.slow
def test_a_better_model_takes_over_and_the_next_starts_from_it(tmp_path: Path) -> None:
    folder = done_folder(tmp_path / "notes", 40)
    encoder = (f"encoder.name={save_encoder(tmp_path / 'encoder')}", "encoder.layers=last", "encoder.dropout=0")
    project = Project(Settings(path=folder, training=(*SMALL, *encoder)), load_suggester)
    project.train("annotator")
    with pytest.raises(DisconerError, match="already running"):
        project.train("annotator")
    first = project.trainer.wait()
    assert (first.state, first.old_f1, first.takes_over) == ("finished", None, True)
    assert first.epoch == len(first.dev_f1) == 3
    assert first.new_f1 is not None
    assert first.new_f1 == pytest.approx(max(first.dev_f1), abs=0.01)
    assert project.suggester is not None
    assert project.suggester.place == first.model

    again = Project(Settings(path=folder, training=("training.epochs=1", *SMALL[1:])), load_suggester)
    assert again.suggester is not None
    assert again.suggester.place == first.model  # what was trained is used the next time
    again.train("annotator")
    second = again.trainer.wait()
    assert second.state == "finished", second.message
    assert second.old_f1 == pytest.approx(first.new_f1)
    assert f"start_from: {first.model}" in (folder / ".disconer" / "training" / "2" / "config.yaml").read_text()
    assert second.takes_over == (second.new_f1 > second.old_f1)  # type: ignore[operator]


@pytest.mark.slow
def test_the_command_trains_without_the_page_and_says_what_failed(tmp_path: Path) -> None:
    folder = done_folder(tmp_path / "notes", 12)
    encoder = f"encoder.name={save_encoder(tmp_path / 'encoder')}"
    settings = [
        part for one in ("training.epochs=1", *SMALL[1:], encoder, "encoder.layers=last") for part in ("--set", one)
    ]
    result = CliRunner().invoke(app, ["annotate", str(folder), "--train", *settings], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    assert "dev F1 0.00; there was no previous model.\nIt found nothing, so it does not suggest" in result.stdout
    assert "epoch 1 of at most 1  dev F1" in result.stderr
    assert not (folder / ".disconer" / "model.json").exists()
    wrong = ["--set", "encoder.name=no-such-encoder"]
    with pytest.raises(DisconerError, match=r"did not finish.*log\.txt.*neither a folder, nor bundled"):
        CliRunner().invoke(app, ["annotate", str(folder), "--train", *wrong], catch_exceptions=False)


@pytest.mark.slow
def test_the_button_of_the_page(tmp_path: Path) -> None:
    folder = done_folder(tmp_path / "notes", 40)
    encoder = (f"encoder.name={save_encoder(tmp_path / 'encoder')}", "encoder.layers=last", "encoder.dropout=0")
    settings = {"training": (*SMALL, *encoder), "load": load_suggester}
    with open_browser() as browser, annotating(folder, **settings) as server, open_page(browser, server.url) as page:
        page.get_by_role("button", name="Train on 40 done documents").click()
        page.get_by_text(re.compile(r"Training on \d+ documents, measured on \d+: epoch")).wait_for()
        assert page.get_by_role("button", name="Train on 40 done documents").is_disabled()
        page.get_by_text("there was no previous model. It suggests from now on.").wait_for(timeout=180_000)
        assert page.get_by_role("button", name="Train on 40 done documents").is_enabled()
