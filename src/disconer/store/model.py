"""A network with what is needed to run it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from disconer.config import Config
from disconer.nn.network import AnyNetwork
from disconer.nn.reader import Reader
from disconer.nn.runtime import Device, Precision
from disconer.nn.scores import UNSCALED, ScoreScale
from disconer.nn.torch_runtime import TorchRuntime
from disconer.store.card import Figures


@dataclass(frozen=True, slots=True)
class Model:
    """A network in torch, to be trained or run.

    figures: what was measured of it, by split; see `card.Figures`.
    scale: turns the scores of its entities into chances of being right.
    """

    network: AnyNetwork
    reader: Reader
    config: Config
    labels: tuple[str, ...]
    figures: Figures = field(default_factory=dict)
    scale: ScoreScale = UNSCALED

    @property
    def max_pieces(self) -> int | None:
        limits = [self.network.words.encoder.max_pieces, self.config.encoder.max_pieces]
        return min((limit for limit in limits if limit is not None), default=None)

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> TorchRuntime:
        return TorchRuntime(self.network, device, precision)

    def save(self, folder: Path) -> None:
        from disconer.store.checkpoint import save_model  # which reads models, too, and so needs this file

        save_model(self, folder)
