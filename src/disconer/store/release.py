"""The record of a released model: its description by its authors, and its metrics. No torch here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from disconer.core.errors import DisconerError, Where
from disconer.core.types import Kind
from disconer.evaluate.evaluation import spread
from disconer.evaluate.measures import Counts
from disconer.store.card import public_name
from disconer.store.description import read_description, write_description
from disconer.store.names import RELEASE

RATIOS = ("precision", "recall", "f1")

Evaluated = Mapping[str, Any]  # as from `Evaluation.to_dict`
Place = tuple[str, ...]  # the keys of counts in an evaluation
_NOTHING = Counts().to_dict()


def split_figures(runs: Sequence[Evaluated], own: Evaluated) -> dict[str, Any]:
    """Metrics of a split for the card: means and deviations over runs, and the model's own F1 and calibration."""
    errors = [run["calibration"]["error"] for run in runs]
    calibration = {"error": _spread(errors), "own": own["calibration"]["error"], "bins": own["calibration"]["bins"]}
    return {"rows": [_row(place, runs, own) for place in _places(own)], "calibration": calibration}


def _places(own: Evaluated) -> Iterator[Place]:
    """Of all entities, of each kind, of each label."""
    yield ("overall",)
    yield from (("kinds", kind.value) for kind in Kind)
    yield from (("labels", label) for label in sorted(own["labels"]))


def _row(place: Place, runs: Sequence[Evaluated], own: Evaluated) -> dict[str, Any]:
    counts = [_counts(run, place) for run in runs]
    ratios = {ratio: _spread([run[ratio] for run in counts]) for ratio in RATIOS}
    itself = _counts(own, place)
    return {"of": place[0], "name": place[-1], "gold": itself["gold"], **ratios, "own_f1": itself["f1"]}


def _counts(evaluated: Evaluated, place: Place) -> Mapping[str, Any]:
    """A run without gold or predicted entities of a label has no counts of it."""
    found: Any = evaluated
    for name in place:
        found = found.get(name, _NOTHING)
    return dict(found)


def _spread(figures: Sequence[float]) -> list[float | None]:
    mean, deviation, _ = spread(figures)
    return [mean, deviation]


SPLITS = ("dev", "test")
DATA = ("train", *SPLITS)


@dataclass(frozen=True, slots=True)
class About:
    """The authors' description of a model, in Markdown, from `recipes/NAME/about.yaml`.

    title: what its texts are. finds: what it finds in them. example: a sentence of that kind.
    labels: what each of them means.
    corpus, licence: of its data, a few words each. data, citation: more about it, and how to cite it.
    use: what it is meant for. limits: what it is not good at.
    commands: those that make it.
    """

    name: str
    title: str
    finds: str
    example: str
    labels: Mapping[str, str]
    corpus: str
    licence: str
    data: str
    citation: str
    use: str
    limits: Sequence[str]
    commands: str


def read_about(path: Path) -> About:
    """The contents of about.yaml; missing and unknown keys are errors."""
    written = yaml.safe_load(path.read_text("utf-8"))
    expected = {field.name for field in fields(About)}
    given = set(written) if isinstance(written, dict) else set()
    if given != expected:
        raise DisconerError(
            "This description of a model is incomplete or has unknown keys",
            where=Where(str(path)),
            got=f"missing or unknown: {', '.join(sorted(map(str, expected ^ given)))}",
            expected=", ".join(sorted(expected)),
        )
    return About(**written)


def record_release(
    folder: Path, about: About, runs: Sequence[Path], own: Mapping[str, Evaluated], *, speed: str
) -> None:
    """Add the release record to a model's description and card.

    runs: folders of `disconer train`, one per seed, with dev.json and test.json.
    own: by split, the metrics of the model in `folder`.
    speed: a sentence or two on how fast it is.
    """
    description = read_description(folder)
    if differing := about.labels.keys() ^ set(description["labels"]):
        raise DisconerError(
            "The labels of the model and those in about.yaml differ",
            where=Where(str(folder)),
            got=", ".join(sorted(differing)),
            fix="Describe all labels of the model in about.yaml, and no others.",
        )
    measured = {split: [_read(run, split) for run in runs] for split in SPLITS}
    if not all(one["calibration"] for split in SPLITS for one in [*measured[split], own[split]]):
        raise DisconerError("A model that finds nothing cannot be released", where=Where(str(folder)))
    release = asdict(about) | {
        "seeds": [_seed(run) for run in runs],
        "speed": speed,
        "figures": {split: split_figures(measured[split], own[split]) for split in SPLITS},
    }
    kept = {split: {name: own[split][name] for name in ("documents", "overall", "kinds")} for split in SPLITS}
    config = _without_places(description["config"])
    write_description(folder, description | {"figures": kept, "config": config, RELEASE: release})


def _without_places(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration without local paths."""
    data = {name: public_name(value) if value and name in DATA else value for name, value in config["data"].items()}
    encoder = config["encoder"] | {"name": public_name(config["encoder"]["name"])}
    start = config["training"].get("start_from")
    training = config["training"] | {"start_from": start and public_name(start)}
    return {**config, "data": data, "encoder": encoder, "training": training}


def _read(run: Path, split: str) -> Evaluated:
    return dict(json.loads((run / f"{split}.json").read_bytes()))


def _seed(run: Path) -> int:
    written = yaml.safe_load((run / "config.yaml").read_text("utf-8"))
    return int(written["training"]["seed"])
