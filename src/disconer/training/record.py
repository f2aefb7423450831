"""The settings, versions and data that a run was started with, saved beside it. A run is resumed only with the same."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disconer.config import Config, DataConfig, dump_config, flat, load_config
from disconer.config.load import is_path
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.version import __version__
from disconer.formats.source import Source
from disconer.runs.output_folder import code_hash, versions
from disconer.store.description import model_digest
from disconer.store.names import find_model
from disconer.training.state import RunFolder

SPLITS = ("train", "dev", "test")
START, EPOCHS = "training.start_from", "training.epochs"
PLACES = {START, *(f"data.{split}" for split in SPLITS)}  # settings that may change if their content does not


def run_facts(config: Config, n_processes: int) -> dict[str, Any]:
    """Versions, fingerprints of the data, and the batches per step."""
    return {
        "disconer": __version__,
        "python": platform.python_version(),
        **versions(),
        "processes": n_processes,
        "batches_a_step": n_processes * config.training.accumulate,
        "data": _hashes(config.data),
        **_start(config.training.start_from),
    }


def _start(model: str | None) -> dict[str, str]:
    return {} if model is None else {"start_from": model_digest(find_model(model))}


def facts_of_all(config: Config, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that all processes of a run must share. The same data may have another path on another machine."""
    settings = {key: value for key, value in flat(config.to_dict()).items() if key not in PLACES}
    code = {"disconer": __version__, "disconer's code": code_hash(), **versions()}
    return settings | _lasting(facts) | code


def write_record(folder: RunFolder, config: Config, facts: Mapping[str, Any]) -> None:
    replace_file(folder.facts, json.dumps(facts, indent=2).encode())
    replace_file(folder.config, dump_config(_with_absolute_paths(config)).encode())


def _with_absolute_paths(config: Config) -> Config:
    """The configuration with absolute paths, for a file in another folder: paths in a file are relative to it."""
    paths = {split: getattr(config.data, split) for split in SPLITS}
    absolute = {split: str(Path(path).absolute()) for split, path in paths.items() if path and "://" not in path}
    encoder, training = config.encoder, config.training
    if is_path(Path(encoder.name)):
        encoder = encoder.model_copy(update={"name": str(Path(encoder.name).resolve())})
    start = training.start_from
    if start and Path(start).exists() and find_model(start).is_relative_to(start):  # not the name of a model
        training = training.model_copy(update={"start_from": str(Path(start).resolve())})
    data = config.data.model_copy(update=absolute)
    return config.model_copy(update={"data": data, "encoder": encoder, "training": training})


def check_record(folder: RunFolder, config: Config, facts: Mapping[str, Any]) -> None:
    """Refuse to resume a run that would not give the same result."""
    recorded, current = (_with_absolute_paths(one) for one in (load_config(folder.config), config))
    then = flat(recorded.to_dict()) | _lasting(json.loads(folder.facts.read_text("utf-8")))
    now = flat(current.to_dict()) | _lasting(facts)
    # Data may move if it stays the same, and the number of processes may change if batches per step do not.
    free = {*PLACES, "training.accumulate"}
    changed = [key for key in sorted((then.keys() | now.keys()) - free) if then.get(key) != now.get(key)]
    if changed:
        raise DisconerError(
            "This run was started with different settings",
            where=Where(str(folder.path)),
            got="; ".join(f"{key} {now.get(key)}, not {then.get(key)}" for key in changed),
            fix=_how_to_go_on(
                folder, settings_only=set(changed) <= now.keys() - _lasting(facts).keys(), longer=EPOCHS in changed
            ),
        )


def _how_to_go_on(folder: RunFolder, *, settings_only: bool, longer: bool) -> str:
    """settings_only: the data is as it was, so that the recorded configuration continues the run."""
    if not settings_only:
        return "Resume with its original settings (its config.yaml) and data, or start again in another folder."
    go_on = f"To continue it as it was started: disconer train {folder.config} --out {folder.path} --resume."
    if not longer:
        return f"{go_on} For other settings, choose another folder."
    # The learning rate of a run has fallen to zero at its end.
    return (
        f"{go_on} A run cannot get another number of epochs, since its learning rate is planned over all of them: to "
        f"train a finished model further, start a new run from it: --set {START}={folder.path} --out ANOTHER_FOLDER."
    )


def _lasting(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that determine the result, with shortened fingerprints."""
    content = {f"content of data.{split}": str(digest)[:8] for split, digest in facts.get("data", {}).items()}
    if start := facts.get("start_from"):
        content[f"content of {START}"] = str(start)[:8]
    return {"batches per step (processes times training.accumulate)": facts.get("batches_a_step"), **content}


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
