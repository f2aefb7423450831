"""The device and the processes of a run: how they meet, and what they must agree on.

torchrun keeps one store of addresses for all its restarts (pytorch issue 167288). After a restart, a process may read
the address of a process that is gone, and fail. So the processes of each start agree on a unique name and exchange
addresses under it.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import InitProcessGroupKwargs, gather_object
from torch.distributed import PrefixStore, default_pg_timeout  # type: ignore[attr-defined]
from torch.distributed.rendezvous import register_rendezvous_handler, rendezvous

from disconer.core.errors import DisconerError, Where, listed
from disconer.core.files import locked
from disconer.nn.devices import cpu_is_fast_in_bf16, cpu_trains_in

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store


SCHEME = "disconer"
MEETING = f"{SCHEME}://"  # the init_method of a process group that uses this rendezvous
PAUSE = 0.1  # seconds between polls of the store


def register_meeting() -> None:
    """Register the scheme with torch, which keeps the first handler."""
    try:
        register_rendezvous_handler(SCHEME, _meet)  # type: ignore[no-untyped-call]
    except RuntimeError:  # already registered: a process may train twice
        return


def _meet(url: str, timeout: timedelta = default_pg_timeout, **_options: object) -> Iterator[tuple[Store, int, int]]:
    """Store, rank and world size, as torch expects from its handlers."""
    store, rank, n_processes = next(rendezvous("env://", timeout=timeout))
    yield PrefixStore(agree_on_start(store, rank, n_processes, timeout), store), rank, n_processes


def agree_on_start(store: Store, rank: int, n_processes: int, timeout: timedelta) -> str:
    """A name for this start, the same in all its processes, whatever earlier starts left in the store.

    Each process stores a random greeting. The first process answers every greeting with the name. A process that finds
    an answer to its own greeting knows that the first process belongs to this start, and confirms the name. Greetings
    of earlier starts are never confirmed, so the first process keeps answering until all have confirmed.
    """
    own = uuid.uuid4().hex
    deadline = time.monotonic() + timeout.total_seconds()
    if rank:
        store.set(f"greeting/{rank}", own)
        while True:
            name, _, greeting = _get(store, f"answer/{rank}").partition(" ")
            if greeting == own:
                store.set(f"confirmed/{rank}", name)
                return name
            _pause(deadline, "The first process")
    missing = set(range(1, n_processes))
    while missing:
        for other in missing:
            store.set(f"answer/{other}", f"{own} {_get(store, f'greeting/{other}')}")
        missing = {other for other in missing if _get(store, f"confirmed/{other}") != own}
        if missing:
            _pause(deadline, f"Of {n_processes} processes, {len(missing)}")
    return own


def _get(store: Store, key: str) -> str:
    """The value of a key, or nothing; `Store.get` would wait for it."""
    return store.get(key).decode() if store.check([key]) else ""


def _pause(deadline: float, who: str) -> None:
    if time.monotonic() > deadline:
        raise DisconerError(
            f"{who} did not join", fix="See the messages of the other machines, and restart all of them."
        )
    time.sleep(PAUSE)


PATIENCE = timedelta(minutes=30)  # timeout of processes that wait for each other; then one counts as lost
LONG_PATIENCE = timedelta(days=1)  # while the others wait for the first to parse or read the text


def build_accelerator(precision: str, *, patience: timedelta = PATIENCE) -> Accelerator:
    """The device and the processes of this run: one, or as many as `torchrun` started."""
    register_meeting()
    AcceleratorState._reset_state()  # a process may train again with another precision
    # Without a GPU, Accelerate joins processes only if told to use CPUs.
    accelerator = Accelerator(
        mixed_precision=_number_format(precision),
        cpu=not torch.accelerator.is_available(),
        kwargs_handlers=[InitProcessGroupKwargs(init_method=MEETING, timeout=patience)],
    )
    n_started = int(os.environ.get("WORLD_SIZE", "1"))
    if accelerator.num_processes != n_started:
        raise DisconerError(
            f"{n_started} processes were started, but they cannot work together on this machine's "
            f"{accelerator.device.type} device",
            fix="Start one process, without torchrun.",
        )
    return accelerator


def _number_format(wanted: str) -> str:
    """Accelerate's name of a precision."""
    has_gpu = torch.cuda.is_available()
    fast_in_bf16 = torch.cuda.is_bf16_supported(including_emulation=False) if has_gpu else cpu_is_fast_in_bf16()
    if wanted == "auto":
        return "bf16" if fast_in_bf16 else "no"
    supported = {
        "bf16": fast_in_bf16 or (not has_gpu and wanted == "bf16" and cpu_trains_in(torch.bfloat16)),
        "fp16": has_gpu,
        "fp32": True,
    }
    if not supported[wanted]:
        raise DisconerError(
            f"This machine's {'GPU' if has_gpu else 'CPU'} cannot train with precision {wanted}",
            fix="Use auto, which takes what the hardware supports.",
        )
    return "no" if wanted == "fp32" else wanted


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
            said = (f"{value} in {listed(names, NAMED)}" for value, names in holders.items())
            found.append(f"{key} {', but '.join(said)}")
    return found


LOCK = ".lock"  # a folder that holds nothing else counts as empty
LEASE = 120.0  # seconds after which file servers free the locks of a machine that was lost


@contextmanager
def alone_in(folder: Path, accelerator: Accelerator) -> Iterator[None]:
    """Refuse, in every process, a folder that another run is writing to: each would overwrite the other's files."""
    is_distributed = accelerator.num_processes > 1
    with ExitStack() as held:
        free = [not accelerator.is_main_process or _hold(folder / LOCK, held, LEASE if is_distributed else 0.0)]
        if not all(gather_object(free) if is_distributed else free):
            raise DisconerError(
                "Another run is writing to this folder",
                where=Where(str(folder)),
                fix="Wait until it has finished, stop it, or choose another folder.",
            )
        yield


def _hold(lock: Path, held: ExitStack, seconds: float) -> bool:
    """Whether the lock became free; it is then held until `held` is closed."""
    deadline = time.monotonic() + seconds
    while True:
        with ExitStack() as attempt:
            if attempt.enter_context(locked(lock, remove=True)) is not None:
                held.push(attempt.pop_all())
                return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(PAUSE)


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
            f"Not all processes can see the output folder: {listed(blind, NAMED)} cannot",
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
