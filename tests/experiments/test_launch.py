from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from disconer import DisconerError
from disconer.core.files import locked
from disconer.experiments.display import Display
from disconer.experiments.folder import ExperimentFolder
from disconer.experiments.launch import Launcher
from disconer.experiments.study import PlannedRun, load_study
from experiments.made_runs import made_run

# Programs in place of a training: arguments are the folder of the run.
COMPLETES = "import pathlib, sys; pathlib.Path(sys.argv[1]).mkdir(parents=True); pathlib.Path(sys.argv[1], 'dev.json')"
COMPLETES += '.write_text(\'{"overall": {"f1": 0.5}}\')'
FAILS = "import sys; sys.exit('epoch 1\\nerror: There is no such file.')"
STARVES = "import os, pathlib, sys, time; at = pathlib.Path(sys.argv[1] + '.tried'); first = not at.exists();"
STARVES += "at.parent.mkdir(parents=True, exist_ok=True); at.touch(); time.sleep(0.2);"
STARVES += f"first and os.kill(os.getpid(), 9); {COMPLETES}"
AFTER_LARGE = """import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).with_name("large.tried").exists(): time.sleep(0.01)
time.sleep(1)
"""


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Launches runs whose processes are programs of one line, by the name of their head."""
    monkeypatch.setattr("disconer.experiments.launch.PAUSE", 0.01)

    def launch(programs: dict[str, str], jobs: int = 1) -> tuple[ExperimentFolder, dict[str, str]]:
        def process(self: Launcher, run: PlannedRun, log: Any, lock: int) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-c", programs[run.values["head"]], str(folder.run(run.name))]
            return subprocess.Popen(command, stdout=log, stderr=log, pass_fds=(lock,))

        monkeypatch.setattr(Launcher, "_process", process)
        heads = ", ".join(f"{name}: " for name in programs)
        (tmp_path / "study.yaml").write_text(f"defaults: {{config: chia}}\naxes: {{head: {{{heads}}}}}")
        study = load_study(tmp_path / "study.yaml")
        folder = ExperimentFolder(tmp_path / "out")
        record = folder.open(study, study.runs())
        Launcher(folder, record, jobs=jobs, watcher=Display(folder, study.runs())).launch(study.runs())
        return folder, record.failures

    return launch


def test_a_failure_leaves_the_others_alone(launched: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder, failures = launched({"bad": FAILS, "good": COMPLETES})
    assert failures == folder.read().failures == {"bad": "There is no such file."}
    assert folder.is_complete("good")
    assert "[1/2] failed bad: There is no such file." in capsys.readouterr().err
    _, failures = launched({"bad": COMPLETES, "good": FAILS})  # complete runs are passed over, failed ones tried again
    assert failures == {}
    assert capsys.readouterr().err.count("complete already") == 1


def test_a_run_out_of_memory_is_resumed_when_others_have_ended(
    launched: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, failures = launched({"large": STARVES, "good": AFTER_LARGE + COMPLETES}, jobs=2)
    assert failures == {}
    assert folder.is_complete("large")
    assert "large ran out of memory and will be resumed later: 1 at a time from now on" in capsys.readouterr().err


def test_a_run_out_of_memory_alone_fails(launched: Any) -> None:
    _, failures = launched({"large": STARVES})
    assert failures["large"].startswith("killed by the system (exit code -9)")


def test_a_process_that_an_earlier_command_left_is_waited_for(
    launched: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ExperimentFolder(tmp_path / "out")
    folder.lock("left").parent.mkdir(parents=True)
    folder.path.joinpath("experiment.json").write_text("{}")
    with locked(folder.lock("left")) as lock:
        assert lock is not None
        program = f"import time; time.sleep(2); {COMPLETES}"
        process = subprocess.Popen([sys.executable, "-c", program, str(folder.run("left"))], pass_fds=(lock,))
    _, failures = launched({"left": FAILS})  # it would fail, were it started
    assert failures == {}
    assert "waiting for the process of an earlier command: left" in capsys.readouterr().err
    assert process.wait() == 0


def test_changed_settings_are_refused_by_name(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    own = "defaults: {config: own.yaml, head.kind: span}\naxes: {seed: [1, 2]}"
    study.write_text(own)
    (tmp_path / "own.yaml").write_text("data: {train: a, dev: b}")
    folder = ExperimentFolder(tmp_path / "out")
    made_run(folder.run("1"), found=0.9)
    folder.path.joinpath("experiment.json").write_text("{}")
    runs = load_study(study).runs()
    folder.open(load_study(study), runs)
    study.write_text(own.replace("span", "span, training.epochs: 7"))
    changed = load_study(study)
    with pytest.raises(DisconerError, match=r"other settings than 1 of the runs.*\n  1: training.epochs 7, not 20"):
        folder.open(changed, changed.runs())


def test_another_folder_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("defaults: {config: chia}\naxes: {seed: [1]}")
    study = load_study(tmp_path / "study.yaml")
    with pytest.raises(DisconerError, match="holds something else"):
        ExperimentFolder(tmp_path).open(study, study.runs())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".experiment.json.part").touch()  # killed before the record was written
    ExperimentFolder(tmp_path / "out").open(study, study.runs())
