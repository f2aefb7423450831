"""What a processor is good at. No torch here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
# Products of 8-bit integers at four times the speed of 32-bit floats, as x86 and ARM name them.
INSTRUCTIONS = {"avx512_vnni", "avx_vnni", "avx_vnni_int8", "asimddp", "i8mm"}


@cache
def has_vnni() -> bool:
    """Whether the processor has instructions for products of 8-bit integers; False where the system does not tell."""
    try:
        lines = CPUINFO.read_text().splitlines()
    except OSError:
        return False
    return any(
        INSTRUCTIONS & set(line.partition(":")[2].split()) for line in lines if line.startswith(("flags", "Features"))
    )
