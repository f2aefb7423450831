from __future__ import annotations

import pytest
import torch
from torch import nn

from disconer.config import TrainingConfig
from disconer.training.optimizer import Adversary, build_optimizer, rate_factor
from nn.toy import toy_model


def shares(n_steps: int, **settings: object) -> list[float]:
    factor = rate_factor(TrainingConfig.model_validate(settings), n_steps)
    return [factor(step) for step in range(n_steps)]


def test_rates_rise_then_fall() -> None:
    linear = shares(100, warmup=0.1)
    assert linear[:10] == pytest.approx([0.1 * step for step in range(1, 11)])
    assert linear[10] == 1
    assert linear[55] == pytest.approx(0.5)
    assert linear[99] == pytest.approx(1 / 90)
    assert shares(100, warmup=0.1, schedule="cosine")[55] == pytest.approx(0.5)
    assert set(shares(100, warmup=0.1, schedule="constant")[9:]) == {1.0}


@pytest.mark.parametrize("n_steps", [1, 2, 7])
@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("schedule", ["linear", "cosine", "constant"])
def test_no_step_is_wasted_or_above_the_full_rate(n_steps: int, warmup: float, schedule: str) -> None:
    for factor in shares(n_steps, warmup=warmup, schedule=schedule):
        assert 0 < factor <= 1


def test_every_parameter_learns_at_the_rate_of_its_part() -> None:
    network = toy_model(encoder={"lstm": {"size": 8}, "layers": "mix"}).network
    config = TrainingConfig(encoder_rate=1e-5, head_rate=1e-3, weight_decay=0.1)
    groups = build_optimizer(network, config).param_groups
    rates = {id(parameter): group["lr"] for group in groups for parameter in group["params"]}
    decays = {id(parameter): group["weight_decay"] for group in groups for parameter in group["params"]}
    for name, parameter in network.named_parameters():
        assert rates[id(parameter)] == (1e-5 if "transformer" in name else 1e-3), name
        assert (decays[id(parameter)] > 0) == (not any(part in name for part in ("bias", "LayerNorm", "mix"))), name
    assert sum(len(group["params"]) for group in groups) == len(list(network.parameters()))


def test_a_frozen_encoder_is_left_out() -> None:
    network = toy_model(encoder={"frozen": True}).network
    groups = build_optimizer(network, TrainingConfig()).param_groups
    assert sum(len(group["params"]) for group in groups) == len(network.other_parameters())


# Adversarial


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
