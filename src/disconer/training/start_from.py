"""Starting training from a model (`training.start_from`): what both must have in common, and what is reused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from disconer.config import Config, config_from_dict
from disconer.core.errors import DisconerError, Where, listed
from disconer.core.places import CONFIG
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.interfaces import AnyHead, AxisNames, Transferable
from disconer.nn.network import AnyNetwork, build_network
from disconer.predict.loading import is_exported
from disconer.store.checkpoint import Model, load_model
from disconer.store.description import read_description
from disconer.store.names import find_model

# Settings of the word vectors that change neither parameters nor their meaning: a training may differ in them from the
# model that it starts from.
FREE = {
    *(
        f"encoder.{name}"
        for name in ("rows", "unknown", "dropout", "max_subwords", "context", "frozen", "lstm.dropout")
    ),
    "syntax.gcn.dropout",
}
LISTED = 4  # parameters named one by one


class Difference(NamedTuple):
    """A setting, and its values here and in the model."""

    key: str
    here: Any
    there: Any

    def __str__(self) -> str:
        return f"{self.key} is {json.dumps(self.here)}, but {json.dumps(self.there)} in the model"


def check_start(config: Config, start: str, *, replaced: Sequence[Path] = ()) -> None:
    """Stop before any work if a training cannot start from the model that it names.

    Everything up to word vectors must be as the model has it.
    replaced: the models of an earlier run that the training would replace. It could not be resumed without its start.
    """
    folder = find_model(start)
    if any(folder.resolve().is_relative_to(model.resolve()) for model in replaced):
        raise DisconerError(
            "Training cannot start from a model of the run that it replaces",
            where=Where(start),
            fix="Write the new run to another folder, or leave out --force.",
        )
    if is_exported(folder):
        raise DisconerError(
            "Training cannot start from a model that was exported to ONNX",
            where=Where(start),
            fix="Set training.start_from to the model that it was exported from.",
        )
    differing = list(_word_differences(config, _config_of(folder)))
    if differing:
        raise DisconerError(
            "Training cannot start from this model: its word vectors are computed differently",
            where=Where(start),
            got="; ".join(map(str, differing)),
            fix=f"{_as_in_the_model(differing)}; "
            f"`disconer init DATA --start-from {start}` writes a matching configuration.",
        )


def started_model(config: Config, start: str, labels: tuple[str, ...]) -> tuple[Model, Sequence[str]]:
    """The model before the first step, and notes on what is reused.

    The encoder and its reader are those of the model that it starts from, so encoder.name is not looked up.
    """
    folder = find_model(start)
    other = load_model(folder)
    torch.manual_seed(config.training.seed)  # loading has consumed random numbers
    kind, description = ENCODER_KINDS.get(config.encoder.kind), other.network.words.encoder.description()
    encoding = kind.build(config.encoder, description, folder)
    network = build_network(config, labels, encoding.encoder)
    network.words.load_state_dict(other.network.words.state_dict())
    model = Model(network, encoding.reader, config, labels)
    if other.config.head.kind != config.head.kind:
        kinds = f"its head is of kind {other.config.head.kind}, this one of kind {config.head.kind}"
        return model, [f"starts from {start}: {_words(network)}; the head is new: {kinds}"]
    transfer = take_over(network.head, other.network.head)
    if transfer.misfits:
        raise _misfit(config, other.config, start, transfer.misfits)
    return model, list(_notes(start, network, transfer, labels, other.labels))


def _config_of(folder: Path) -> Config:
    return config_from_dict(read_description(folder)["config"], str(folder / CONFIG))


def _word_differences(config: Config, other: Config) -> Iterator[Difference]:
    here, there = config.to_dict(), other.to_dict()
    yield from _differences(here["encoder"], there["encoder"], "encoder")
    yield from _differences(here["syntax"]["gcn"], there["syntax"]["gcn"], "syntax.gcn")


def _differences(here: Any, there: Any, key: str) -> Iterator[Difference]:
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        for name in here:
            yield from _differences(here[name], there.get(name), f"{key}.{name}")
    elif here != there and key not in FREE:
        yield Difference(key, here, there)


def _as_in_the_model(differing: Sequence[Difference]) -> str:
    if not differing:
        return "Train with the version of disconer that wrote the model"
    settings = (f"{one.key}={json.dumps(one.there, separators=(',', ':'))}" for one in differing)
    return "Set it as the model has it: " + " ".join(f"--set '{setting}'" for setting in settings)


def _misfit(config: Config, other: Config, start: str, misfits: Sequence[Misfit]) -> DisconerError:
    shapes = [f"{one.name} {_shape(one.own)}, but {_shape(one.given)} in the model" for one in misfits[:LISTED]]
    differing = [
        one
        for one in _differences(config.head.model_dump(mode="json"), other.head.model_dump(mode="json"), "head")
        if not isinstance(one.here, float | str)  # those that determine sizes
    ]
    return DisconerError(
        "Training cannot start from this model: parts of its head have other sizes",
        where=Where(start),
        got="; ".join([*map(str, differing), *shapes]),
        fix=f"{_as_in_the_model(differing)}; with another head.kind, everything except the head is reused.",
    )


def _shape(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def _words(network: AnyNetwork) -> str:
    parts = {"encoder": network.words.encoder, "BiLSTM": network.words.lstm, "GCN": network.words.gcn}
    return ", ".join(name for name, part in parts.items() if part is not None)


def _notes(
    start: str, network: AnyNetwork, transfer: Transfer, labels: Sequence[str], known: Sequence[str]
) -> Iterator[str]:
    n_whole, n_partly, n_fresh = len(transfer.whole), len(transfer.partly), len(transfer.fresh)
    if not n_whole and not n_partly:
        yield f"starts from {start}: {_words(network)}; the head is new: its kind does not support reuse"
        return
    in_part = f", {n_partly} more in part" if n_partly else ""
    n_all = n_whole + n_partly + n_fresh
    yield f"starts from {start}: {_words(network)}, {n_whole} of {n_all} parameters of the head{in_part}"
    shared = [label for label in labels if label in known]
    new = [label for label in labels if label not in known]
    yield f"labels reused: {', '.join(shared) or 'none'}; new: {', '.join(new) or 'none'}"
    if n_fresh:
        yield f"new parameters of the head: {listed(transfer.fresh, LISTED)}"


class Misfit(NamedTuple):
    """A parameter that two heads have in sizes that cannot be matched.

    own, given: its shape in the head that is to take it over, and in the other.
    """

    name: str
    own: tuple[int, ...]
    given: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transfer:
    """What became of the parameters of a head, by name.

    whole: taken over. partly: taken over where axes have places of the same names. fresh: as they were.
    misfits: fresh, too, as their sizes do not match.
    """

    whole: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)


@torch.no_grad()
def take_over(head: AnyHead, other: AnyHead) -> Transfer:
    """Copy the parameters of another head of the same kind, as far as both are `Transferable`.

    Any other head stays as it is.
    """
    own, given = head.state_dict(), other.state_dict()  # type: ignore[attr-defined]
    done = Transfer()
    if not isinstance(head, Transferable) or not isinstance(other, Transferable):
        done.fresh.extend(own)
        return done
    own_names, given_names = head.axis_names(), other.axis_names()
    for name, tensor in own.items():
        if name not in given:
            done.fresh.append(name)
            continue
        places = _shared_places(tensor, own_names.get(name, {}), given[name], given_names.get(name, {}))
        if places is None:
            done.misfits.append(Misfit(name, tuple(tensor.shape), tuple(given[name].shape)))
            continue
        here, there = places
        tensor[_grid(here)] = given[name][_grid(there)].to(tensor)
        n_taken = torch.Size(map(len, here)).numel()
        kept = done.whole if n_taken == tensor.numel() else done.partly if n_taken else done.fresh
        kept.append(name)
    return done


Places = list[list[int]]  # of each axis, places along it


def _shared_places(
    own: Tensor, own_names: AxisNames, given: Tensor, given_names: AxisNames
) -> tuple[Places, Places] | None:
    """Of each axis, the places that are shared, in both tensors; None if they cannot be matched."""
    if own.ndim != given.ndim or own_names.keys() != given_names.keys():
        return None
    here: Places = []
    there: Places = []
    for axis in range(own.ndim):
        if axis in own_names:
            place = {name: number for number, name in enumerate(given_names[axis])}
            shared = [(number, place[name]) for number, name in enumerate(own_names[axis]) if name in place]
        elif own.shape[axis] == given.shape[axis]:
            shared = [(number, number) for number in range(own.shape[axis])]
        else:
            return None
        here.append([number for number, _ in shared])
        there.append([number for _, number in shared])
    return here, there


def _grid(places: Places) -> tuple[Tensor, ...]:
    """Indices of all combinations of places, one of each axis."""
    return tuple(map(torch.from_numpy, np.ix_(*places)))
