from __future__ import annotations

import pytest
import torch
from torch import nn

from disconer.training.average import HEAD_START, WeightAverage


def test_the_average_is_the_formula() -> None:
    weight = nn.Parameter(torch.zeros(2))
    average = WeightAverage([weight], keep=0.5)
    mean = 0.0
    for step, value in enumerate((1.0, 5.0, -2.0), 1):
        weight.data.fill_(value)
        average.update()
        keep = min(0.5, step / (HEAD_START + step))
        mean = keep * mean + (1 - keep) * value
    with average.in_place():
        assert weight.tolist() == pytest.approx([mean, mean])
    assert weight.tolist() == [-2.0, -2.0]


def test_weights_come_back_when_something_goes_wrong() -> None:
    weight = nn.Parameter(torch.ones(1))
    average = WeightAverage([weight], keep=0.9)
    weight.data.fill_(3.0)
    with pytest.raises(KeyboardInterrupt), average.in_place():
        raise KeyboardInterrupt
    assert weight.item() == 3.0


def test_without_averaging_the_weights_are_as_they_are() -> None:
    weight = nn.Parameter(torch.ones(1))
    average = WeightAverage([weight], keep=0.0)
    weight.data.fill_(3.0)
    average.update()
    with average.in_place():
        assert weight.item() == 3.0


def test_frozen_weights_are_left_alone() -> None:
    frozen = nn.Parameter(torch.ones(1), requires_grad=False)
    assert WeightAverage([frozen], keep=0.9).state_dict()["means"] == []


def test_a_saved_average_goes_on_where_it_was() -> None:
    weights = [nn.Parameter(torch.ones(1)) for _ in range(2)]
    first, second = (WeightAverage([weight], keep=0.9) for weight in weights)
    weights[0].data.fill_(3.0)
    first.update()
    second.load_state_dict(first.state_dict())
    for average, weight in zip((first, second), weights, strict=True):
        weight.data.fill_(7.0)
        average.update()
    assert first.state_dict()["means"] == second.state_dict()["means"]
