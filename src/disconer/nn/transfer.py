"""Parameters taken over from one head to another of its kind, which may be for other labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from disconer.nn.heads.head import AnyHead, AxisNames, Transferable


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
    """Give a head the parameters of another of its kind, as far as both say what they stand for.

    A head that does not (see `Transferable`) stays as it is.
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
