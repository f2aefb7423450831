"""A multilayer perceptron, as far as it follows on a first layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import nn


def mlp(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Activation and dropout of the layer before, then linear layers in between: sizes[0] -> … -> sizes[-1]."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.ReLU(), nn.Dropout(dropout), nn.Linear(inputs, outputs)]
    return nn.Sequential(*layers)
