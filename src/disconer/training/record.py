"""What was run: configuration, versions, data. Left beside the model, and held against what is to be resumed."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from disconer.config import Config, DataConfig, dump_config, load_config
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.version import __version__
from disconer.formats.source import Source
from disconer.runs.versions import code_hash, versions
from disconer.training.state import RunFolder

SPLITS = ("train", "dev", "test")


def run_facts(config: Config, n_processes: int) -> dict[str, Any]:
    """Versions, fingerprints of the data, and how much goes into a step."""
    return {
        "disconer": __version__,
        "python": platform.python_version(),
        **versions(),
        "processes": n_processes,
        "batches_a_step": n_processes * config.training.accumulate,
        "data": _hashes(config.data),
    }


def facts_of_all(config: Config, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What all processes of a run must have alike. Data may lie elsewhere on another machine, if it is the same."""
    places = {f"data.{split}" for split in SPLITS}
    settings = {key: value for key, value in _flat(config.to_dict()).items() if key not in places}
    code = {"disconer": __version__, "disconer's code": code_hash(), **versions()}
    return settings | _lasting(facts) | code


def write_record(folder: RunFolder, config: Config, facts: Mapping[str, Any]) -> None:
    replace_file(folder.facts, json.dumps(facts, indent=2).encode())
    replace_file(folder.config, dump_config(config).encode())


def check_record(folder: RunFolder, config: Config, facts: Mapping[str, Any]) -> None:
    """Refuse to resume what would not continue to the same result."""
    then = _flat(load_config(folder.config).to_dict()) | _lasting(json.loads(folder.facts.read_text("utf-8")))
    now = _flat(config.to_dict()) | _lasting(facts)
    # Data may move, if it stays the same; and it does not matter which processes take the batches of a step.
    free = {*(f"data.{split}" for split in SPLITS), "training.accumulate"}
    changed = [key for key in sorted((then.keys() | now.keys()) - free) if then.get(key) != now.get(key)]
    if changed:
        raise DisconerError(
            "This run was started with something else than it is to be resumed with",
            where=Where(str(folder.path)),
            got="; ".join(f"{key} {now.get(key)}, not {then.get(key)}" for key in changed),
            fix="Resume with what it was started with (its config.yaml), or start anew in another folder.",
        )


def _lasting(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that decide the result. Of fingerprints, the beginning tells enough."""
    content = {f"content of data.{split}": str(digest)[:8] for split, digest in facts.get("data", {}).items()}
    return {"batches a step (processes times training.accumulate)": facts.get("batches_a_step"), **content}


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested sections as dotted keys."""
    return dict(_leaves(values, prefix))


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _hashes(config: DataConfig) -> dict[str, str]:
    paths = {split: getattr(config, split) for split in SPLITS}
    return {split: data_hash(path) for split, path in paths.items() if path}


def data_hash(path: str) -> str:
    """A fingerprint of all files of a split, names included."""
    digest = hashlib.sha256()
    for member in Source(Path(path)):
        digest.update(member.name.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(hashlib.sha256(member.read()).digest())
    return digest.hexdigest()
