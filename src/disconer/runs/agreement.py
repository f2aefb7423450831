"""What all processes of a run must agree on: compared before the first step, with an error that names differences."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from accelerate import Accelerator
from accelerate.utils import gather_object

from disconer.core.errors import DisconerError, Where

Facts = Mapping[str, object]

NAMED = 3  # processes named per value in a message


def check_agreement(accelerator: Accelerator, facts: Facts) -> None:
    """Raise the same error in every process unless all have the same facts."""
    if accelerator.num_processes == 1:
        return
    everyone: list[tuple[str, Facts]] = gather_object([(_name(accelerator), dict(facts))])
    found = differences(everyone)
    if found:
        raise DisconerError(
            "The processes of this run differ, so they cannot train one model",
            got="; ".join(found),
            fix="Start all of them with the same command, installation, data and output folder.",
        )


def differences(everyone: Sequence[tuple[str, Facts]]) -> list[str]:
    """For each fact that differs, which processes have which value.

    >>> differences([("process 0", {"seed": 1}), ("process 1", {"seed": 2}), ("process 2", {"seed": 1})])
    ['seed 1 in process 0, process 2, but 2 in process 1']
    """
    keys = dict.fromkeys(key for _, facts in everyone for key in facts)
    found = []
    for key in keys:
        holders: dict[str, list[str]] = {}
        for name, facts in everyone:
            holders.setdefault(str(facts.get(key)), []).append(name)
        if len(holders) > 1:
            said = (f"{value} in {_listed(names)}" for value, names in holders.items())
            found.append(f"{key} {', but '.join(said)}")
    return found


def check_shared(accelerator: Accelerator, folder: Path) -> None:
    """All processes must see the files that the first one writes: they load the best model and the state from there."""
    if accelerator.num_processes == 1:
        return
    if accelerator.is_main_process:
        with NamedTemporaryFile(prefix=".shared-", dir=folder) as sign:
            blind = _without_sight_of(folder, [Path(sign.name).name], accelerator)
    else:
        blind = _without_sight_of(folder, [], accelerator)
    if blind:
        raise DisconerError(
            f"Not all processes can see the output folder: {_listed(blind)} cannot",
            where=Where(str(folder)),
            fix="Choose an output folder on a disk that all machines share.",
        )


def _without_sight_of(folder: Path, sign: list[str], accelerator: Accelerator) -> list[str]:
    """The names of the processes that do not find the marker in the folder. Only the first process writes a marker."""
    (name,) = gather_object(sign)
    blind: list[str] = gather_object([] if (folder / name).exists() else [_name(accelerator)])
    return blind


def _name(accelerator: Accelerator) -> str:
    return f"process {accelerator.process_index} on {socket.gethostname()}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
