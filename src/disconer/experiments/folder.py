"""The folder of an experiment: its runs and their logs, and the place of each run in the matrix."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disconer.config import flat, load_config
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.experiments.study import PlannedRun, Study, Values

RECORD = "experiment.json"
COMPLETE = "dev.json"  # what `disconer train` writes last
PLACES = ("data.train", "data.dev", "data.test", "training.start_from")  # they may move; their content is checked
SHOWN = 5  # runs that an error lists


@dataclass(slots=True)
class Record:
    """The record of an experiment. runs: by name, its place in the matrix. failures: by name, the reason."""

    study: str
    about: str = ""
    runs: dict[str, Values] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        runs = {name: dict(values) for name, values in self.runs.items()}
        return {"study": self.study, "about": self.about, "runs": runs, "failures": self.failures}


class ExperimentFolder:
    """runs/NAME: what `disconer train` writes. logs/NAME.log: its messages. experiment.json: the record."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._record = path / RECORD

    def run(self, name: str) -> Path:
        return self.path / "runs" / name

    def log(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def lock(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.lock"

    def is_complete(self, name: str) -> bool:
        return (self.run(name) / COMPLETE).is_file()

    @property
    def is_experiment(self) -> bool:
        return self._record.is_file()

    def read(self) -> Record:
        try:
            values = json.loads(self._record.read_text("utf-8"))
            return Record(values["study"], values["about"], values["runs"], values["failures"])
        except (ValueError, KeyError, TypeError) as error:
            raise DisconerError(
                "This record of an experiment is damaged",
                where=Where(str(self._record)),
                got=repr(error),
                fix="Run `disconer experiment` again: it writes the record again.",
            ) from error

    def write(self, record: Record) -> None:
        replace_file(self._record, json.dumps(record.to_dict(), indent=1, ensure_ascii=False).encode())

    def open(self, study: Study, runs: Sequence[PlannedRun]) -> Record:
        """Create the folder, unless it holds something else or runs with other settings."""
        if not self.is_experiment and _holds_something(self.path):
            raise DisconerError(
                "The folder of the experiment holds something else",
                where=Where(str(self.path)),
                fix="Choose a new or empty folder for --out.",
            )
        self._refuse_changed(runs)
        self.path.mkdir(parents=True, exist_ok=True)
        record = Record(study.name, study.about, {run.name: run.values for run in runs})
        self.write(record)
        return record

    def _refuse_changed(self, runs: Sequence[PlannedRun]) -> None:
        found = [f"{run.name}: {'; '.join(changes)}" for run in runs if (changes := list(self._changes(run)))]
        if found:
            more = len(found) - SHOWN
            raise DisconerError(
                f"The study now has other settings than {len(found)} of the runs that are here",
                where=Where(str(self.path)),
                got="\n  " + "\n  ".join(found[:SHOWN]) + (f"\n  and {more} more" if more > 0 else ""),
                fix="Restore the settings, remove the folders of these runs (in runs/), or choose another --out.",
            )

    def _changes(self, run: PlannedRun) -> Iterator[str]:
        """What is different from the settings that a run was started with."""
        config = self.run(run.name) / "config.yaml"
        if not config.is_file():
            return
        try:
            now = flat(run.load().to_dict())
        except DisconerError:  # reported when the run fails
            return
        then = flat(load_config(config).to_dict())
        for key in sorted((then.keys() | now.keys()) - set(PLACES)):
            if then.get(key) != now.get(key):
                yield f"{key} {now.get(key)}, not {then.get(key)}"


def _holds_something(path: Path) -> bool:
    """Whether it is a file, or a folder with more than the hidden files that an interrupted start leaves."""
    return path.is_file() or (path.is_dir() and any(not file.name.startswith(".") for file in path.iterdir()))
