"""What is to be measured, and how. No torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from disconer.nn.runtime import Precision

Part = Literal["throughput", "latency", "stages", "memory", "training"]
PARTS: tuple[Part, ...] = get_args(Part)
ClockName = Literal["wall", "cpu"]

REPEATS = 5
SENTENCES = 320  # ten batches of those that the bare encoder runs in


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure.

    device: as torch names devices; None: the first GPU if there is one, else the CPU.
    precision, encoder_precision: of the recogniser, and of the bare encoder beside it.
    threads: of torch on the CPU; None: as many as it takes by itself.
    limit: sentences at least, if the data has as many; None: all.
    given: take sentences, tokens and heads from the data; else from the text alone.
    clock: the time that passes, or the processor time of this process, which others on the machine disturb less.
    """

    parts: tuple[Part, ...] = PARTS
    device: str | None = None
    precision: Precision = "fp32"
    encoder_precision: Precision = "fp32"
    threads: int | None = None
    repeats: int = REPEATS
    limit: int | None = SENTENCES
    given: bool = False
    clock: ClockName = "wall"
