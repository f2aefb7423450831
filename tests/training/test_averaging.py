"""Weights averaged over the last epochs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from disconer.config import Config, config_from_dict
from disconer.training import train
from disconer.training.averaging import WeightAverage
from disconer.training.loop import Loop
from training.synthetic import complaints, prepare


def test_the_mean_of_all_epochs_from_the_first_on() -> None:
    layer = nn.Linear(1, 1, bias=False)
    average = WeightAverage(layer, first_epoch=2)
    seen = []
    for epoch, weight in enumerate([9.0, 1.0, 2.0, 6.0], 1):
        layer.weight.data.fill_(weight)
        with average.taken(epoch):
            seen.append(layer.weight.item())
        assert layer.weight.item() == weight  # training goes on from where it was
    assert seen == pytest.approx([9.0, 1.0, 1.5, 3.0])


def test_the_network_has_its_weights_back_after_an_error() -> None:
    layer = nn.Linear(2, 2)
    average = WeightAverage(layer, first_epoch=1)
    with average.taken(1):
        pass
    layer.weight.data += 1
    before = layer.weight.detach().clone()
    with pytest.raises(KeyError), average.taken(2):
        raise KeyError
    assert torch.equal(layer.weight, before)


Weights = dict[str, torch.Tensor]


def last(run: Path) -> Weights:
    return load_file(run / "last" / "model.safetensors")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return prepare(tmp_path, complaints(40), complaints(10, seed=2), epochs=4, patience=4, steps_at_least=0)


def averaging(config: Config, epochs: int) -> Config:
    plain = config.to_dict()
    return config_from_dict(plain | {"training": plain["training"] | {"average": epochs}})


@pytest.mark.slow
def test_the_last_model_is_the_mean_of_the_epochs_that_it_would_have_had(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a run that is broken off in the midst of averaging goes on to the same."""
    ends: list[Weights] = []
    save = Loop._save

    def kept(loop: Loop) -> None:
        save(loop)
        ends.append(last(loop.folder.path))

    with monkeypatch.context() as context:
        context.setattr(Loop, "_save", kept)
        train(config, tmp_path / "plain")
    train(averaging(config, 3), tmp_path / "averaged")
    assert len(ends) == 1 + 4  # before the first epoch, too
    expected = {name: torch.stack([end[name].float() for end in ends[2:]]).mean(0) for name in ends[0]}
    found = last(tmp_path / "averaged")
    torch.testing.assert_close(found, {name: value.to(found[name]) for name, value in expected.items()})
    assert any(not torch.equal(found[name], ends[-1][name]) for name in found)

    epoch = Loop._epoch

    def broken(loop: Loop, number: int) -> None:
        if number > 3:
            raise ConnectionResetError
        epoch(loop, number)

    with monkeypatch.context() as context:
        context.setattr(Loop, "_epoch", broken)
        with pytest.raises(ConnectionResetError):
            train(averaging(config, 3), tmp_path / "resumed")
    train(averaging(config, 3), tmp_path / "resumed", resume=True)
    torch.testing.assert_close(last(tmp_path / "resumed"), found, rtol=0, atol=0)
