"""The processor: the cores that this process may use, how many threads to start on them, and what they are good at."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

THREADS_VARIABLE = "OMP_NUM_THREADS"  # which torch and ONNX Runtime obey
CGROUP = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """The cores that affinity (taskset, Slurm) and the control group (containers, systemd) allow this process."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota(CGROUP)
    return affinity if quota is None else max(1, min(affinity, int(quota)))


def _quota(root: Path) -> float | None:
    """The CPU quota of a control group, of either version, in cores; None: no limit."""
    try:
        allowed, period = (root / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            allowed = (root / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (root / "cpu" / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    if not allowed.isdecimal() or not period.isdecimal() or not int(period):  # max, or -1: no limit
        return None
    return int(allowed) / int(period)


def chosen_threads() -> int:
    """$OMP_NUM_THREADS, or one for each usable core."""
    given = os.environ.get(THREADS_VARIABLE, "").split(",")[0].strip()
    return int(given) if given.isdecimal() and int(given) else usable_cores()


def busy_warning(threads: int) -> str | None:
    """A warning if other programs use the cores that the threads are meant for: fewer threads are faster then."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if threads == 1 or load <= (os.cpu_count() or 1) - threads + 1:
        return None
    return (
        f"other programs keep this machine busy (load average {load:.1f}, {os.cpu_count()} cores), and {threads} "
        f"threads that wait for each other can be several times slower than one: stop with Ctrl-C, and go on with "
        f"{THREADS_VARIABLE}=1 and --resume"
    )


CPUINFO = Path("/proc/cpuinfo")
# CPU flags, on x86 and ARM, for products of 8-bit integers: exact, and at four times the speed of 32-bit floats.
# Programs for x86 also run on ARM, emulated, where the system lists ARM's flags.
INSTRUCTIONS = {
    "x86_64": {"avx512_vnni", "avx_vnni"},
    "aarch64": {"asimddp", "i8mm"},
}


@cache
def has_vnni() -> bool:
    """Whether the processor has instructions for products of 8-bit integers; False where the system does not say."""
    try:
        with open(CPUINFO) as lines:  # of the first core: there may be hundreds
            has = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return False
    return not INSTRUCTIONS.get(platform.machine(), set()).isdisjoint(has.partition(":")[2].split())
