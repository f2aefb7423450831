"""The figures of a comparison: means and deviations over the runs of each cell, and differences between systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any, NamedTuple

from disconer.core.types import Kind
from disconer.evaluate import Counts, Spread, spread
from disconer.evaluate.bootstrap import Difference, difference
from disconer.evaluate.entity_lists import ListedDocument, each_document, gap_group, length_group, totals
from disconer.evaluate.measures import Key
from disconer.experiments.naming import SEED_KEY
from disconer.experiments.results import Place, Result, Results, splits_of

OVERALL, KIND, LABEL, PART, LENGTH, GAP = "overall", "kind", "label", "part", "length", "gap"
PARTS = {"fragments": "fragments", "relations": "relations", "discontinuous_sentences": "sentences with discontinuous"}


class Measure(NamedTuple):
    """What a figure measures: metric of a name (a kind, a label, …) in a group of names, on a split."""

    split: str
    group: str
    name: str
    metric: str = "f1"


@dataclass(frozen=True)
class Speed:
    """Medians and means over the runs of a cell; None if no run knows.

    per_second: sentences predicted. train_seconds: of an epoch, without its evaluation.
    """

    device: str | None
    n_parameters: int | None
    megabytes: float | None
    per_second: float | None
    train_seconds: float | None
    best_epoch: float | None


@dataclass(frozen=True)
class Cell:
    """The runs of a place, summarised. failures: the reasons of those that failed."""

    place: Place
    seeds: Sequence[int]
    figures: Mapping[Measure, Spread]
    speed: Speed
    failures: Sequence[str]

    @property
    def n_runs(self) -> int:
        return len(self.seeds)


class Compared(NamedTuple):
    """Two systems on one corpus: F1 of the first minus that of the second, of all entities and of one kind."""

    one: Place
    other: Place
    split: str
    overall: Difference
    discontinuous: Difference


@dataclass(frozen=True)
class Comparison:
    """All that a report says.

    n_incomplete: runs that are left out, as they are not complete.
    by_gold: of each corpus whose systems were measured on different gold entities, groups of those with the same.
    """

    title: str
    about: str
    cells: Sequence[Cell]
    compared: Sequence[Compared]
    n_incomplete: int
    by_gold: Mapping[str, Sequence[Sequence[str]]]

    @property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(cell.place.corpus for cell in self.cells))

    def of(self, corpus: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.place.corpus == corpus]


Gold = tuple[tuple[str, frozenset[Key]], ...]  # documents by their ids, and their gold entities


class _Listed(NamedTuple):
    """Counts from a split's entities that its metrics do not have: by size of entities, and by document."""

    gold: Gold
    groups: Mapping[str, Mapping[str, Counts]]
    overall: list[Counts]
    discontinuous: list[Counts]


def compare_runs(found: Results) -> Comparison:
    """Summarise all cells, and compare all pairs of systems of the same corpus and share."""
    cells, by_document = [], {}
    golds: dict[tuple[str, str], dict[Gold, dict[str, None]]] = {}  # of a corpus and split: the systems of each gold
    for place, results in found.cells().items():
        splits = splits_of(results)
        listed = {split: [_listed(one.lists(split)) for one in results] for split in splits}
        reasons = [failure.reason for failure in found.failures if failure.place == place]
        figures = dict(_figures(results, listed))
        seeds = [int(one.settings[SEED_KEY]) for one in results]
        cells.append(Cell(place, seeds, figures, _speed(results), reasons))
        for split in splits:
            for one in filter(None, listed[split]):
                golds.setdefault((place.corpus, split), {}).setdefault(one.gold, {})[place.system] = None
            if (added := _added(listed[split])) is not None:
                by_document[place, split] = added
    pairs = list(_pairs(cells, by_document))
    return Comparison(found.title, found.about, cells, pairs, found.n_incomplete, _several(golds))


def _listed(documents: list[ListedDocument] | None) -> _Listed | None:
    if documents is None:
        return None
    return _Listed(
        tuple((document.id, frozenset(one.key for one in document.gold)) for document in documents),
        {LENGTH: totals(documents, length_group), GAP: totals(documents, gap_group)},
        list(each_document(documents)),
        list(each_document(documents, Kind.DISCONTINUOUS)),
    )


def _figures(
    results: Sequence[Result], listed: Mapping[str, Sequence[_Listed | None]]
) -> Iterator[tuple[Measure, Spread]]:
    for split, lists in listed.items():
        values: dict[Measure, list[float]] = {}
        for result, own in zip(results, lists, strict=True):
            for measure, value in _of_run(split, result.figures[split], own):
                values.setdefault(measure, []).append(value)
        yield from ((measure, spread(found)) for measure, found in values.items())


def _of_run(split: str, figures: Mapping[str, Any], listed: _Listed | None) -> Iterator[tuple[Measure, float]]:
    """The figures of one run; groups without gold and predicted entities have none."""
    for metric in ("precision", "recall", "f1"):
        yield Measure(split, OVERALL, "all", metric), figures["overall"][metric]
    if figures.get("calibration"):
        yield Measure(split, OVERALL, "all", "calibration_error"), figures["calibration"]["error"]
    named = {
        KIND: figures["kinds"],
        PART: {name: figures[key] for key, name in PARTS.items()},
        LABEL: figures["labels"],
    }
    for group, members in named.items():
        for name, counts in members.items():
            if counts["gold"] or counts["predicted"]:
                yield Measure(split, group, name), counts["f1"]
    for group, own in listed.groups.items() if listed else ():
        for name, one in own.items():
            yield Measure(split, group, name), one.f1


def _speed(results: Sequence[Result]) -> Speed:
    sizes = [one.n_bytes for one in results if one.n_bytes is not None]
    parameters = [one.n_parameters for one in results if one.n_parameters is not None]
    timed = [part for one in results for split in ("test", "dev") if (part := one.speed.get(split))]
    seconds = [float(epoch["train_seconds"]) for one in results for epoch in one.epochs if "train_seconds" in epoch]
    best = [max(one.epochs, key=lambda epoch: float(epoch["dev_f1"]))["epoch"] for one in results if one.epochs]
    devices = sorted({str(one.speed["device"]) for one in results if "device" in one.speed})
    return Speed(
        device=", ".join(devices) or None,
        n_parameters=max(parameters, default=None),
        megabytes=max(sizes, default=0) / 1e6 if sizes else None,
        per_second=median(part["sentences"] / max(part["seconds"], 1e-9) for part in timed) if timed else None,
        train_seconds=median(seconds) if seconds else None,
        best_epoch=sum(best) / len(best) if best else None,
    )


def _added(lists: Sequence[_Listed | None]) -> _Listed | None:
    """The counts of several runs on the same gold entities, added up document by document."""
    known = [one for one in lists if one is not None]
    if not known or len({one.gold for one in known}) > 1:
        return None
    overall = [sum(counts, Counts()) for counts in zip(*(one.overall for one in known), strict=True)]
    discontinuous = [sum(counts, Counts()) for counts in zip(*(one.discontinuous for one in known), strict=True)]
    return _Listed(known[0].gold, {}, overall, discontinuous)


def _several(golds: Mapping[tuple[str, str], Mapping[Gold, Mapping[str, None]]]) -> dict[str, list[list[str]]]:
    """Systems by their gold entities, for each corpus where these are not the same for all."""
    return {corpus: list(map(list, systems.values())) for (corpus, _), systems in golds.items() if len(systems) > 1}


def _pairs(cells: Sequence[Cell], by_document: Mapping[tuple[Place, str], _Listed]) -> Iterator[Compared]:
    """On test, or on dev where there is no test data. Two systems are paired if their gold entities are the same."""
    for first, second in combinations((cell.place for cell in cells), 2):
        if (first.corpus, first.share) != (second.corpus, second.share):
            continue
        for split in ("test", "dev"):
            one, other = by_document.get((first, split)), by_document.get((second, split))
            if one is None or other is None or one.gold != other.gold:
                continue
            overall = difference(one.overall, other.overall)
            discontinuous = difference(one.discontinuous, other.discontinuous)
            if overall is not None and discontinuous is not None:
                yield Compared(first, second, split, overall, discontinuous)
                break
