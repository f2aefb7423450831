"""The device and the processes of a run, and how they find one another.

torchrun keeps one store of addresses for all its restarts (pytorch issue 167288). A process of the second start may
read there where one of the first start was to be reached, and fails. So the processes of a start agree on a name that
no other start has, and meet under it.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import InitProcessGroupKwargs
from torch.distributed import PrefixStore, default_pg_timeout  # type: ignore[attr-defined]
from torch.distributed.rendezvous import register_rendezvous_handler, rendezvous

from disconer.core.errors import DisconerError

if TYPE_CHECKING:
    from torch._C._distributed_c10d import Store

SCHEME = "disconer"
MEETING = f"{SCHEME}://"  # the init_method of a process group whose processes meet as here
PAUSE = 0.1  # seconds between two looks into the store


def register_meeting() -> None:
    """Let torch know the scheme; it keeps the first handler that it is told of."""
    try:
        register_rendezvous_handler(SCHEME, _meet)  # type: ignore[no-untyped-call]
    except RuntimeError:  # known already: a process may train twice
        return


def _meet(url: str, timeout: timedelta = default_pg_timeout, **_options: object) -> Iterator[tuple[Store, int, int]]:
    """Store, rank and number of processes, as torch asks its handlers for them."""
    store, rank, n_processes = next(rendezvous("env://", timeout=timeout))
    yield PrefixStore(agree_on_start(store, rank, n_processes, timeout), store), rank, n_processes


def agree_on_start(store: Store, rank: int, n_processes: int, timeout: timedelta) -> str:
    """A name of this start, the same for all of its processes, whatever earlier ones have left in the store.

    Each process leaves a greeting that is new. The first answers every greeting with the name; whoever finds the answer
    to its own greeting knows that the first is of this start, too, and confirms the name. Answers to greetings of
    earlier starts are confirmed by nobody, so the first goes on answering until all have confirmed.
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
    """What is under a key, or nothing; `Store.get` would wait for it."""
    return store.get(key).decode() if store.check([key]) else ""


def _pause(deadline: float, who: str) -> None:
    if time.monotonic() > deadline:
        raise DisconerError(
            f"{who} did not come", fix="Look at the messages of the other machines, and start all of them again."
        )
    time.sleep(PAUSE)


PATIENCE = timedelta(minutes=30)  # of processes that wait for one another; then one of them counts as lost
LONG_PATIENCE = timedelta(days=1)  # where the others wait for the first, which has much text to parse or to read


def build_accelerator(precision: str, *, patience: timedelta = PATIENCE) -> Accelerator:
    """The device and the processes of this run: one, or as many as `torchrun` started."""
    register_meeting()
    AcceleratorState._reset_state()  # a process may train again, in another number format
    # Without a device of its own kind to speak of, Accelerate joins processes only if told that CPUs are wanted.
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
    """The name that Accelerate knows a number format by."""
    has_gpu = torch.cuda.is_available()
    has_bf16 = has_gpu and torch.cuda.is_bf16_supported(including_emulation=False)
    if wanted == "auto":
        return "bf16" if has_bf16 else "no"
    if (wanted == "fp16" and not has_gpu) or (wanted == "bf16" and has_gpu and not has_bf16):
        raise DisconerError(
            f"This machine cannot train with precision {wanted}", fix="Use auto, which takes what there is."
        )
    return "no" if wanted == "fp32" else wanted
