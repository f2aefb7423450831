"""The optimizer of an adaptation."""

from __future__ import annotations

import torch
from torch import nn

BETAS, EPSILON = (0.9, 0.98), 1e-6  # as is usual for masked language models
SMALL = 512  # units of an encoder's states: up to this width it takes the higher rate
RATE, RATE_OF_LARGE = 5e-4, 1e-4


def usual_rate(width: int) -> float:
    """The highest learning rate, by the width of an encoder: larger ones forget more easily."""
    return RATE if width <= SMALL else RATE_OF_LARGE


def build_optimizer(network: nn.Module, *, rate: float, weight_decay: float) -> torch.optim.AdamW:
    """AdamW in one pass over all numbers; no decay on biases and norms."""
    parameters = list(network.parameters())
    groups = [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": weight_decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, eps=EPSILON, fused=True)
