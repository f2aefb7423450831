"""Names for the corpora and systems of runs that were trained by themselves, from their settings and run.json."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from disconer.experiments.folder import PLACES

SEED_KEY, SHARE_KEY, START = "training.seed", "data.share", "training.start_from"
NAMED = 6  # letters of a fingerprint in a name

Settings = Mapping[str, Any]  # flat, as `disconer.config.flat` gives them
Record = Mapping[str, Any]  # run.json: fingerprints of the data, and of the model that training started from


def corpus_names(settings: Mapping[Path, Settings], records: Mapping[Path, Record]) -> dict[Path, str]:
    """A corpus is named after the folder of its training data."""
    names = {folder: _folder_of(own["data.train"]) for folder, own in settings.items()}
    return _told_apart(names, {folder: str(record.get("data")) for folder, record in records.items()})


def _folder_of(train: str) -> str:
    path = Path(train).absolute()
    return path.parent.name or path.stem


def system_names(
    settings: Mapping[Path, Settings], records: Mapping[Path, Record], corpora: Mapping[Path, str]
) -> dict[Path, str]:
    """The kind of head, and the settings in which runs of that kind differ."""
    starts = _start_names(settings, records)
    compared = {folder: {**own, START: starts.get(folder)} for folder, own in settings.items()}
    names = {}
    for folder, own in compared.items():
        alike = {other: values for other, values in compared.items() if values["head.kind"] == own["head.kind"]}
        on_corpus = [values for other, values in alike.items() if corpora[other] == corpora[folder]]
        keys = _differing(list(alike.values()), on_corpus)
        names[folder] = " ".join([str(own["head.kind"]), *(f"{key.rpartition('.')[2]}={own.get(key)}" for key in keys)])
    return names


def _start_names(settings: Mapping[Path, Settings], records: Mapping[Path, Record]) -> dict[Path, str]:
    """The models from which runs started, named without their folders, which may have moved."""
    names = {folder: Path(own[START]).name for folder, own in settings.items() if own.get(START)}
    return _told_apart(names, {folder: str(records[folder].get("start_from")) for folder in names})


def _told_apart(names: Mapping[Path, str], contents: Mapping[Path, str]) -> dict[Path, str]:
    """With a fingerprint of the contents, where they differ from those of the first with the same name."""
    first: dict[str, str] = {}
    for folder, name in names.items():
        first.setdefault(name, contents[folder])
    return {
        folder: name if first[name] == contents[folder] else f"{name}-{_fingerprint(contents[folder])}"
        for folder, name in names.items()
    }


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:NAMED]


def _differing(alike: Sequence[Settings], on_corpus: Sequence[Settings]) -> Iterator[str]:
    """The keys that distinguish systems; seed, share and the paths of data do not count.

    on_corpus: those of the same corpus. Other settings of the data depend on the corpus, so only these are compared.
    """
    for key in dict.fromkeys(key for one in alike for key in one):
        among = on_corpus if key.startswith("data.") else alike
        tells_apart = key == START or key not in (SEED_KEY, SHARE_KEY, *PLACES)
        if tells_apart and len({str(one.get(key)) for one in among}) > 1:
            yield key
