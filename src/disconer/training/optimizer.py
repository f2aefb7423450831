"""The optimizer of a run: two learning rates, warm-up and decay, and adversarial steps.

The fast gradient method of Miyato et al. (2017), on subword embeddings: the network must find the same entities
although its input is perturbed, and so relies less on single words that it has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from disconer.config import TrainingConfig
from disconer.nn.network import AnyNetwork

TINY = 1e-12  # a zero gradient has no direction


class Adversary:
    """Perturbs an embedding table in the direction that raises a batch's loss.

    table: the encoder's input embeddings.
    length: norm of the perturbation of the whole table.
    """

    def __init__(self, table: nn.Parameter, length: float) -> None:
        self._table, self._length = table, length

    def gradient(self) -> Tensor | None:
        """The table's accumulated gradient so far, to separate a batch's own from that of earlier ones."""
        return None if self._table.grad is None else self._table.grad.clone()

    @contextmanager
    def pushed(self, earlier: Tensor | None) -> Iterator[None]:
        """Within, the table is moved along the gradient accumulated since `earlier`."""
        assert self._table.grad is not None  # there was a backward pass
        own = self._table.grad if earlier is None else self._table.grad - earlier
        where_it_was = self._table.detach().clone()
        with torch.no_grad():
            self._table.add_(own * (self._length / (own.norm() + TINY)))
        try:
            yield
        finally:
            with torch.no_grad():
                self._table.copy_(where_it_was)


def build_optimizer(network: AnyNetwork, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW with one rate for the pretrained parameters and one for the rest; no decay on biases and norms."""
    groups = []
    for parameters, rate in (
        (network.encoder_parameters(), config.encoder_rate),
        (network.other_parameters(), config.head_rate),
    ):
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        groups += [
            {"params": [p for p in trained if _decays(p)], "lr": rate, "weight_decay": config.weight_decay},
            {"params": [p for p in trained if not _decays(p)], "lr": rate, "weight_decay": 0.0},
        ]
    # One kernel instead of many: on a CPU the step takes a fifth of the time, on a GPU a third.
    return torch.optim.AdamW([group for group in groups if group["params"]], fused=True)


def _decays(parameter: nn.Parameter) -> bool:
    return parameter.ndim > 1


def build_schedule(
    optimizer: torch.optim.Optimizer, config: TrainingConfig, n_steps: int
) -> torch.optim.lr_scheduler.LambdaLR:
    """The fraction of the peak rate at each step."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, rate_factor(config, n_steps))


def rate_factor(config: TrainingConfig, n_steps: int) -> Callable[[int], float]:
    """From step (counted from 0) to the fraction of the peak rate: warm-up, then decay."""
    n_rising = round(config.warmup * n_steps)

    def factor(step: int) -> float:
        if step < n_rising:
            return (step + 1) / n_rising
        done = min(1.0, (step - n_rising) / max(1, n_steps - n_rising))
        if config.schedule == "linear":
            return 1 - done
        if config.schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * done))
        return 1.0

    return factor
