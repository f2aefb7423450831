"""Where runs stand in a comparison: corpus, system and share, from a study or from their settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.experiments.folder import PLACES
from disconer.experiments.study import CORPUS, SEED, SHARE, Values

SEED_KEY, SHARE_KEY = "training.seed", "data.share"
NAMED = 6  # letters of a fingerprint in a name

Settings = Mapping[str, Any]  # flat, as `disconer.config.flat` gives them


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


def places_in_study(runs: Mapping[str, Values], study: str) -> dict[str, Place]:
    """A system is named by its values on the axes that have several; the other axes say the same of all."""
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


def corpus_names(settings: Mapping[Path, Settings], contents: Mapping[Path, str]) -> dict[Path, str]:
    """The folder of the training data is what a corpus is called; a fingerprint parts two of the same name.

    contents: of each run, fingerprints of its data.
    """
    names = {folder: _folder_of(own["data.train"]) for folder, own in settings.items()}
    first: dict[str, str] = {}
    for folder, name in names.items():
        first.setdefault(name, contents[folder])
    return {
        folder: name if first[name] == contents[folder] else f"{name}-{_fingerprint(contents[folder])}"
        for folder, name in names.items()
    }


def _folder_of(train: str) -> str:
    path = Path(train).absolute()
    return path.parent.name or path.stem


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:NAMED]


def system_names(settings: Mapping[Path, Settings]) -> dict[Path, str]:
    """The kind of head, and the settings in which runs of that kind differ."""
    names = {}
    for folder, own in settings.items():
        alike = [other for other in settings.values() if other["head.kind"] == own["head.kind"]]
        parts = [f"{key.rpartition('.')[2]}={own.get(key)}" for key in _differing(alike)]
        names[folder] = " ".join([str(own["head.kind"]), *parts])
    return names


def _differing(settings: Sequence[Settings]) -> Iterator[str]:
    """The keys that tell systems apart; neither seed and share nor the data do."""
    for key in dict.fromkeys(key for one in settings for key in one):
        tells_apart = not key.startswith("data.") and key not in (SEED_KEY, *PLACES)
        if tells_apart and len({str(one.get(key)) for one in settings}) > 1:
            yield key
