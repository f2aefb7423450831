"""Adversarial training: every batch is learnt a second time, with piece vectors pushed to where it is hardest.

The fast gradient method of Miyato et al. (2017), on the table of piece vectors: the network must find the same entities
although all of its input has moved a little, and so leans less on single words that it has seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

TINY = 1e-12  # a gradient of nothing has no direction


class Adversary:
    """Pushes a table of vectors against what a batch teaches.

    table: the vectors that the encoder starts from.
    length: of the push, over all of them together.
    """

    def __init__(self, table: nn.Parameter, length: float) -> None:
        self._table, self._length = table, length

    def gradient(self) -> Tensor | None:
        """What has been gathered of the table's gradient so far, to tell a batch's own from that of earlier ones."""
        return None if self._table.grad is None else self._table.grad.clone()

    @contextmanager
    def pushed(self, earlier: Tensor | None) -> Iterator[None]:
        """Within, the table is moved up the gradient that was gathered since `earlier`."""
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
