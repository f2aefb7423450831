"""Results of training runs, read from the folders that `disconer train` wrote, and their places in a comparison:
corpus, system and share, from a study or from their settings.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from disconer.config import flat, load_config
from disconer.core.errors import DisconerError, Where
from disconer.core.places import WEIGHTS
from disconer.evaluate.entity_lists import LISTS, ListedDocument, load_lists
from disconer.experiments.folder import COMPLETE, PLACES, ExperimentFolder
from disconer.experiments.naming import SEED_KEY, SHARE_KEY, START, corpus_names, system_names
from disconer.experiments.study import CORPUS, SEED, SHARE, Values

SPLITS = ("test", "dev")  # in the order of preference


@dataclass(frozen=True)
class Place:
    """A cell of the comparison: runs that differ only in their seed. share: of the training documents."""

    corpus: str
    system: str
    share: float = 1.0

    @property
    def name(self) -> str:
        """The system, with its share unless that is everything."""
        return self.system if self.share == 1 else f"{self.system}, {100 * self.share:g} %"


@dataclass(frozen=True)
class Result:
    """A complete run. figures: the metrics of each split, as `Evaluation.to_dict` gives them."""

    folder: Path
    place: Place
    figures: Mapping[str, Any]

    def lists(self, split: str) -> list[ListedDocument] | None:
        """The entities of a split; None for a run of an earlier version, which kept none."""
        path = self.folder / LISTS.format(split=split)
        return load_lists(path) if path.is_file() else None

    @cached_property
    def settings(self) -> dict[str, Any]:
        return flat(load_config(self.folder / "config.yaml").to_dict())

    @cached_property
    def record(self) -> dict[str, Any]:
        """Versions, and fingerprints of the data and of the model that training started from."""
        return _json(self.folder / "run.json") if (self.folder / "run.json").is_file() else {}

    @cached_property
    def epochs(self) -> list[dict[str, Any]]:
        path = self.folder / "metrics.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []

    @cached_property
    def speed(self) -> dict[str, Any]:
        """Empty for a run of an earlier version."""
        return _json(self.folder / "speed.json") if (self.folder / "speed.json").is_file() else {}

    @cached_property
    def n_parameters(self) -> int | None:
        """None if the model no longer exists."""
        path = self.folder / "best" / WEIGHTS
        return count_numbers(path) if path.is_file() else None

    @property
    def n_bytes(self) -> int | None:
        path = self.folder / "best" / WEIGHTS
        return path.stat().st_size if path.is_file() else None


def count_numbers(path: Path) -> int:
    """The numbers in a file of weights, from its header alone."""
    with open(path, "rb") as stream:
        (size,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
    return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


@dataclass(frozen=True)
class Failure:
    """A run that failed."""

    place: Place
    reason: str


@dataclass(frozen=True)
class Results:
    """All runs of a comparison; incomplete ones are only counted."""

    title: str
    about: str
    results: Sequence[Result]
    failures: Sequence[Failure] = ()
    n_incomplete: int = 0

    def cells(self) -> dict[Place, list[Result]]:
        """Runs by place, and places where all runs failed, in the order of their appearance."""
        cells: dict[Place, list[Result]] = {}
        for corpus in self.corpora:
            for place in self._places():
                if place.corpus == corpus:
                    cells.setdefault(place, [])
        for result in self.results:
            cells[result.place].append(result)
        return cells

    @property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(place.corpus for place in self._places()))

    def _places(self) -> Iterator[Place]:
        yield from (one.place for one in self.results)
        yield from (one.place for one in self.failures)


def read_results(folders: Sequence[Path]) -> Results:
    """The runs below some folders: of experiments, and any other that `disconer train` wrote."""
    for path in folders:
        if not path.is_dir():
            raise DisconerError("There is no such folder", where=Where(str(path)))
    experiments = [folder for path in folders if (folder := ExperimentFolder(path)).is_experiment]
    others = [path for path in folders if not ExperimentFolder(path).is_experiment]
    parts = [*map(_of_experiment, experiments), *([_of_runs(others)] if others else [])]
    found = Results(
        title=" and ".join(dict.fromkeys(part.title for part in parts)),
        about=" ".join(filter(None, (part.about for part in parts))),
        results=_distinct([(part.title, result) for part in parts for result in part.results]),
        failures=[failure for part in parts for failure in part.failures],
        n_incomplete=sum(part.n_incomplete for part in parts),
    )
    if not found.results and not found.failures:
        raise DisconerError(
            "There is no complete training run here",
            where=Where(", ".join(map(str, folders))),
            got=f"{found.n_incomplete} that are not complete" if found.n_incomplete else "no run at all",
            fix="Name folders that `disconer experiment` or `disconer train` wrote; --resume completes a run.",
        )
    return found


def _of_experiment(folder: ExperimentFolder) -> Results:
    record = folder.read()
    places = places_in_study(record.runs, record.study)
    complete = [name for name in record.runs if folder.is_complete(name)]
    failed = [name for name in record.failures if name not in complete and name in places]
    return Results(
        title=record.study,
        about=record.about,
        results=[Result(folder.run(name), places[name], _figures(folder.run(name))) for name in complete],
        failures=[Failure(places[name], record.failures[name]) for name in failed],
        n_incomplete=len(record.runs) - len(complete) - len(failed),
    )


def _of_runs(paths: Sequence[Path]) -> Results:
    """Runs that were trained by themselves: a cell is made of those whose settings differ only in their seed."""
    folders = sorted({file.parent for path in paths for file in path.rglob("run.json")})
    complete = [folder for folder in folders if (folder / COMPLETE).is_file()]
    found = [Result(folder, Place("", ""), _figures(folder)) for folder in complete]
    settings = {one.folder: one.settings for one in found}
    records = {one.folder: one.record for one in found}
    corpora = corpus_names(settings, records)
    systems = system_names(settings, records, corpora)
    placed = [
        replace(one, place=Place(corpora[one.folder], systems[one.folder], float(one.settings[SHARE_KEY])))
        for one in found
    ]
    title = ", ".join(dict.fromkeys(path.resolve().name for path in paths))
    return Results(title, "", placed, n_incomplete=len(folders) - len(complete))


def _distinct(results: Sequence[tuple[str, Result]]) -> list[Result]:
    """Runs of two folders are of one cell only if their settings agree; otherwise the folder's name is added."""
    first: dict[Place, tuple[str, dict[str, Any]]] = {}
    found = []
    for title, result in results:
        settings = _identity(result)
        known_title, known = first.setdefault(result.place, (title, settings))
        if title != known_title and settings != known:
            place = replace(result.place, system=f"{result.place.system} ({title})")
            result = replace(result, place=place)
        found.append(result)
    return found


def _identity(result: Result) -> dict[str, Any]:
    settings = {key: value for key, value in result.settings.items() if key not in (SEED_KEY, *PLACES)}
    return settings | {START: result.record.get("start_from")}


def _figures(folder: Path) -> dict[str, Any]:
    return {split: _json(folder / f"{split}.json") for split in SPLITS if (folder / f"{split}.json").is_file()}


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise DisconerError("This file of a run is damaged", where=Where(str(path)), got=str(error)) from error
    if not isinstance(values, dict):
        raise DisconerError("This file of a run is damaged", where=Where(str(path)), expected="a JSON object")
    return values


def splits_of(results: Iterable[Result]) -> list[str]:
    """The splits that all these runs have measured, the preferred one first."""
    every = list(results)
    return [split for split in SPLITS if every and all(split in one.figures for one in every)]


def places_in_study(runs: Mapping[str, Values], study: str) -> dict[str, Place]:
    """A system is named by its values on the axes that have several; the other axes are the same for all."""
    axes = [axis for axis in next(iter(runs.values()), {}) if axis not in (CORPUS, SEED, SHARE)]
    several = [axis for axis in axes if len({values[axis] for values in runs.values()}) > 1] or axes[:1]
    return {
        name: Place(
            values.get(CORPUS, study),
            " ".join(values[axis] for axis in several) or study,
            float(values.get(SHARE, "1")),
        )
        for name, values in runs.items()
    }
