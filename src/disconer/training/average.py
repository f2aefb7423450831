"""A running average of the weights, which is what is measured and kept: it wavers less than the weights themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

HEAD_START = 10  # the first steps count for more, so that the average does not remember the untrained weights


class WeightAverage:
    """The exponential moving average of parameters.

    keep: share of the old average that a step leaves; 0: the average is the weights as they are.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], keep: float) -> None:
        self._keep = keep
        self._weights = [parameter for parameter in parameters if parameter.requires_grad] if keep else []
        self._means: list[Tensor] = [weight.detach().clone() for weight in self._weights]
        self._n_steps = 0

    def update(self) -> None:
        """Take in the weights after a step of the optimizer."""
        if self._means:
            self._n_steps += 1
            keep = min(self._keep, self._n_steps / (HEAD_START + self._n_steps))
            torch._foreach_lerp_(self._means, [weight.detach() for weight in self._weights], 1 - keep)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The network with the average in place of its weights, for as long as this lasts."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def _exchange(self) -> None:
        for weight, mean in zip(self._weights, self._means, strict=True):
            held = weight.detach().clone()
            weight.data.copy_(mean)
            mean.copy_(held)

    def state_dict(self) -> dict[str, Any]:
        return {"means": self._means, "n_steps": self._n_steps}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for mean, saved in zip(self._means, state["means"], strict=True):
            mean.copy_(saved)
        self._n_steps = state["n_steps"]
