"""The mean of the weights of several epochs (stochastic weight averaging, Izmailov et al. 2018).

The ends of the last epochs differ by chance, as models of different seeds do, and probabilities averaged over such
models find more. Averaging weights is the part of this that costs nothing: the result is one model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


class WeightAverage:
    """The mean over the ends of all epochs from `first_epoch` on."""

    def __init__(self, network: nn.Module, *, first_epoch: int) -> None:
        self._parameters = list(network.parameters())
        self._first_epoch = first_epoch
        self._n = 0  # epochs in the mean
        self._mean: list[Tensor] = []
        self._own: list[Tensor] = []  # the network's own weights, while it has the mean

    @contextmanager
    def taken(self, epoch: int) -> Iterator[None]:
        """At the end of an epoch: within, the network has the mean, this epoch included; then its own weights again."""
        if epoch < self._first_epoch:
            yield
            return
        self._own = [parameter.detach().clone() for parameter in self._parameters]
        self._n += 1
        if self._n == 1:
            self._mean = [own.clone() for own in self._own]
        for mean, own in zip(self._mean, self._own, strict=True):
            mean.lerp_(own, 1 / self._n)
        self._set(self._mean)
        try:
            yield
        finally:
            self._set(self._own)

    @torch.no_grad()
    def _set(self, weights: list[Tensor]) -> None:
        for parameter, weight in zip(self._parameters, weights, strict=True):
            parameter.copy_(weight)

    def state_dict(self) -> dict[str, Any]:
        """See `Stateful`. What is saved of the network is the mean, so its own weights are here."""
        return {"n": self._n, "mean": self._mean, "own": self._own}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """See `Stateful`. The network is loaded before."""
        self._n = state_dict["n"]
        if self._n:
            self._mean = [
                mean.to(parameter.device) for mean, parameter in zip(state_dict["mean"], self._parameters, strict=True)
            ]
            self._set(state_dict["own"])
