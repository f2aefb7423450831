"""What processes of a run compare; `test_processes.py` has real ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from disconer.config import config_from_dict
from disconer.runs.processes import differences
from disconer.training.record import facts_of_all, run_facts
from disconer.training.state import RunFolder
from training.conftest import Run


def facts(run: Run, **sections: dict[str, object]) -> dict[str, object]:
    plain = run.config.to_dict()
    config = config_from_dict(plain | {name: plain[name] | values for name, values in sections.items()})
    return facts_of_all(config, run_facts(config, n_processes=2))


def test_data_may_lie_elsewhere_but_not_differ(unbroken: Run, tmp_path: Path) -> None:
    moved = Path(shutil.copy(unbroken.config.data.train, tmp_path))
    assert facts(unbroken, data={"train": str(moved)}) == facts(unbroken)
    with open(moved, "a", encoding="utf-8") as stream:
        stream.write('{"id": "new", "text": "a new one"}\n')
    (found,) = differences([("process 0", facts(unbroken)), ("process 1", facts(unbroken, data={"train": str(moved)}))])
    assert found.startswith("content of data.train ")
    assert found.count(" in process ") == 2


def test_settings_are_told_by_name(unbroken: Run) -> None:
    other = facts(unbroken, training={"seed": 7, "accumulate": 3})
    assert differences([("process 0", facts(unbroken)), ("process 1", other)]) == [
        "training.seed 1 in process 0, but 7 in process 1",
        "training.accumulate 1 in process 0, but 3 in process 1",
        "batches per step (processes times training.accumulate) 2 in process 0, but 6 in process 1",
    ]


def test_changed_code_is_seen(unbroken: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    here = facts(unbroken)
    assert "torch" in here
    monkeypatch.setattr("disconer.training.record.code_hash", lambda: "changed")
    (found,) = differences([("process 0", here), ("process 1", facts(unbroken))])
    code = here["disconer's code"]
    assert found == f"disconer's code {code} in process 0, but changed in process 1"


def test_another_state_to_resume_is_seen(unbroken: Run, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.state_hash is None
    shutil.copy(unbroken.out / "training.pt", tmp_path)
    assert folder.state_hash == RunFolder(unbroken.out).state_hash
    with open(tmp_path / "training.pt", "ab") as stream:
        stream.write(b"more")
    assert folder.state_hash != RunFolder(unbroken.out).state_hash


def test_of_many_processes_some_are_named() -> None:
    everyone: list[tuple[str, dict[str, object]]] = [(f"process {n}", {"seed": n == 5}) for n in range(8)]
    assert differences(everyone) == ["seed False in process 0, process 1, process 2 and 4 more, but True in process 5"]
