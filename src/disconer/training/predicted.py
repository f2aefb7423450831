"""The model that training produces, without the labels that it only learned from (`data.labels`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from disconer.core.errors import DisconerError
from disconer.nn.interfaces import Transferable
from disconer.nn.network import Network, build_head
from disconer.store.checkpoint import Model

HEAD = "head."  # before the names of a head's parameters in a network

Places = dict[int, Tensor]  # by axis, the places along it that are kept


@dataclass(frozen=True, slots=True)
class PredictedModel:
    """The model that is measured and saved while another is trained.

    model: shares everything up to word vectors with the trained one; its head has fewer labels, or is the same.
    places: of each parameter that depends on labels.
    """

    model: Model
    places: Mapping[str, Places]

    def weights(self, learned: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Its weights, of those that the trained network has."""
        return {name: _selected(tensor, self.places.get(name, {})) for name, tensor in learned.items()}

    def take(self, learned: Mapping[str, Tensor]) -> Model:
        """The model with the trained network's current weights, on its device, to be measured."""
        network = self.model.network
        if self.places:
            network.to(next(iter(learned.values())).device)
            network.load_state_dict(self.weights(learned))
            network.eval()  # also what it shares with the trained network, whatever it was before
        return self.model


def predicted_model(model: Model, labels: Sequence[str]) -> PredictedModel:
    """The model for some of the labels of another, which is to be trained."""
    if set(labels) == set(model.labels):
        return PredictedModel(model, {})
    head = model.network.head
    fewer = build_head(model.config, labels, model.network.words)
    given = head.axis_names() if isinstance(head, Transferable) else {}
    kept = fewer.axis_names() if isinstance(fewer, Transferable) else {}
    places = {
        HEAD + name: {axis: _places(names, given[name][axis]) for axis, names in axes.items()}
        for name, axes in kept.items()
    }
    network = Network(words=model.network.words, head=fewer)
    predicted = PredictedModel(replace(model, network=network, labels=tuple(labels)), places)
    _check_names(model.config.head.kind, predicted.weights(model.network.state_dict()), network.state_dict())
    return predicted


def _check_names(kind: str, weights: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """All parameters that depend on labels must have been named."""
    for name, tensor in expected.items():
        if name not in weights or weights[name].shape != tensor.shape:
            raise DisconerError(
                f"The head {kind} cannot be saved without labels that it has learned: its axis_names do not say how "
                f"{name} depends on labels",
                fix="Set data.labels to null; or complete axis_names, or let scores_labels_apart be False.",
            )


def _places(kept: Sequence[object], given: Sequence[object]) -> Tensor:
    numbers = {name: number for number, name in enumerate(given)}
    return torch.tensor([numbers[name] for name in kept])


def _selected(tensor: Tensor, places: Places) -> Tensor:
    for axis, kept in places.items():
        tensor = tensor.index_select(axis, kept.to(tensor.device))
    return tensor
