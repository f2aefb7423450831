"""The device and the processes of a run."""

from __future__ import annotations

import os
from datetime import timedelta

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import InitProcessGroupKwargs

from disconer.core.errors import DisconerError
from disconer.runs.rendezvous import MEETING, register_meeting

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
