"""The most memory that a job takes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch

MEGABYTE = 2**20
_STATUS, _CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # what Linux takes in clear_refs for: forget the highest resident size


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes.

    process: the highest resident size of the whole process while the job ran: Python, torch, model and data;
        None where the system does not tell.
    cuda: the most that was allocated on the GPU, the model included; None on the CPU.
    """

    process: float | None
    cuda: float | None


def peak_memory(job: Callable[[], object], device: torch.device) -> Memory:
    """Run a job and look how much it took."""
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(device)
    _reset_peak()
    job()
    return Memory(_peak(), torch.cuda.max_memory_allocated(device) / MEGABYTE if on_gpu else None)


def _reset_peak() -> None:
    with suppress(OSError):  # no Linux, or a guarded one: the peak is then that of the process so far
        _CLEAR_REFS.write_text(_RESET_PEAK)


def _peak() -> float | None:
    try:
        status = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * 1024 / MEGABYTE
    except (OSError, KeyError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
