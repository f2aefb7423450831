from __future__ import annotations

import pytest
import torch
from torch import nn

from disconer.training.optimizer import Adversary


def table() -> nn.Parameter:
    return nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))


def test_the_table_moves_up_the_gradient_and_comes_back() -> None:
    vectors = table()
    adversary = Adversary(vectors, length=0.5)
    earlier = adversary.gradient()
    (vectors * torch.tensor([[3.0, 0.0], [0.0, 4.0]])).sum().backward()
    with adversary.pushed(earlier):
        torch.testing.assert_close(vectors.data, torch.tensor([[1.3, 2.0], [3.0, 4.4]]))
    assert torch.equal(vectors.data, table().data)


def test_only_the_gradient_of_the_last_batch_counts() -> None:
    vectors = table()
    adversary = Adversary(vectors, length=1.0)
    (vectors[0] * 100).sum().backward()
    earlier = adversary.gradient()
    vectors[1, 0].backward()
    with adversary.pushed(earlier):
        torch.testing.assert_close(vectors.data, torch.tensor([[1.0, 2.0], [4.0, 4.0]]))


def test_a_batch_that_teaches_nothing_pushes_nowhere() -> None:
    vectors = table()
    adversary = Adversary(vectors, length=1.0)
    (0 * vectors).sum().backward()
    with adversary.pushed(None):
        assert torch.equal(vectors.data, table().data)


def test_the_table_comes_back_after_an_error() -> None:
    vectors = table()
    adversary = Adversary(vectors, length=1.0)
    vectors.sum().backward()
    with pytest.raises(RuntimeError, match="out of memory"), adversary.pushed(None):
        raise RuntimeError("out of memory")
    assert torch.equal(vectors.data, table().data)
