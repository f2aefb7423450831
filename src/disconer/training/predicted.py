"""The model that a training gives, without the labels that it only learned from (`data.labels`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from disconer.core.errors import DisconerError
from disconer.nn.interfaces import Transferable
from disconer.nn.network import build_head
from disconer.store.checkpoint import Model

Places = dict[int, Tensor]  # by axis, the places along it that are kept


@dataclass(frozen=True, slots=True)
class PredictedModel:
    """A model as it is saved while another is trained, which has more labels.

    places: of each parameter that depends on labels.
    """

    model: Model
    places: Mapping[str, Places]

    def weights(self, learned: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Its weights, of those that the trained network has."""
        return {name: _selected(tensor, self.places.get(name, {})) for name, tensor in learned.items()}


def predicted_model(model: Model, labels: Sequence[str]) -> PredictedModel:
    """The model for some of the labels of another, which is to be trained."""
    if set(labels) == set(model.labels):
        return PredictedModel(model, {})
    head = model.network.head
    fewer = build_head(model.config, labels, model.network.words)
    if not isinstance(head, Transferable) or not isinstance(fewer, Transferable):
        raise DisconerError(
            f"A head of kind {model.config.head.kind} predicts all labels that it learns",
            fix="Set data.labels to null, or leave entities of other labels out of the training data.",
        )
    given = head.axis_names()
    places = {
        f"head.{name}": {axis: _places(kept, given[name][axis]) for axis, kept in axes.items()}
        for name, axes in fewer.axis_names().items()
    }
    return PredictedModel(replace(model, labels=tuple(labels)), places)


def _places(kept: Sequence[object], given: Sequence[object]) -> Tensor:
    numbers = {name: number for number, name in enumerate(given)}
    return torch.tensor([numbers[name] for name in kept])


def _selected(tensor: Tensor, places: Places) -> Tensor:
    for axis, kept in places.items():
        tensor = tensor.index_select(axis, kept.to(tensor.device))
    return tensor
