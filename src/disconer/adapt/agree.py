"""What all processes must see alike, though each has a clock of its own."""

from __future__ import annotations

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast


def by_first_process(value: float, accelerator: Accelerator) -> float:
    """The first process's value, in every process."""
    if accelerator.num_processes == 1:
        return value
    return float(broadcast(torch.tensor(value, device=accelerator.device)))
