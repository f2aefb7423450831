"""Where something was measured, and the most memory that a job takes."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from disconer.core.version import __version__


def environment(device: torch.device) -> dict[str, object]:
    """What figures depend on beside the model and the data."""
    return {
        "disconer": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


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
