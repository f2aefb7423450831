"""Weights in a quarter of their size: stored with few bits, used with 32. All that it costs is rounding.

Every row of a large weight is stored as whole numbers, and the largest absolute value that they stand for. Tables that
are looked up bear coarser numbers than matrices that are multiplied with: 7 and 9 bits change fewer entities than 8 and
8 do, in the same size. Where it is known what a weight was before training, only the change is stored: that is small,
so that 6 bits are finer than 9 of the weight itself, and of tables only the rows that training met.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from disconer.core.files import replace_file
from disconer.nn.bits import (
    CHANGE,
    CHANGE_BITS,
    LARGEST,
    MATRIX_BITS,
    PLANES,
    ROWS,
    TABLE_BITS,
    change,
    restore,
    to_planes,
)

SMALL = 2**12  # numbers; fewer are stored with 16 bits
UNMET = 0.01  # a row of a table changes by less, for its largest value, if training never met it: rounding and decay


def rounded_weights(network: nn.Module, base: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
    """What to store of a network.

    base: what some of its weights were before training; whoever restores them needs these, too.
    """
    base = base or {}
    tables = {f"{name}.weight" for name, part in network.named_modules() if isinstance(part, nn.Embedding)}
    stored = {}
    for name, weight in network.state_dict().items():
        weight = weight.detach().cpu()
        if weight.dtype != torch.float32:
            stored[name] = weight.contiguous()
        elif weight.ndim < 2 or weight.numel() < SMALL:
            stored[name] = weight.half().contiguous()
        elif name in base:
            difference = weight - base[name]
            least = UNMET * base[name].flatten(1).abs().amax(1) if name in tables else 0
            rows = (difference.flatten(1).abs().amax(1) > least).nonzero().flatten()
            stored[name + ROWS] = rows.int()
            stored[name + CHANGE], stored[name + LARGEST] = _rounded(difference[rows], CHANGE_BITS)
        else:
            bits = TABLE_BITS if name in tables else MATRIX_BITS
            stored[name + PLANES], stored[name + LARGEST] = _rounded(weight, bits)
    return stored


def full_weights(
    stored: Mapping[str, Tensor], like: Mapping[str, Tensor], base: Mapping[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """The weights of 32 bits, of whatever was stored.

    like: the weights of the network that they are for, which say what shape they have.
    base: those that changes are of.
    """
    base = base or {}
    full = {}
    for name, tensor in stored.items():
        weight = name.removesuffix(PLANES).removesuffix(CHANGE)
        if name.endswith(PLANES) and weight in like and weight + LARGEST in stored:
            full[weight] = torch.empty(like[weight].shape)
            restore(weight, tensor.numpy(), stored[weight + LARGEST].numpy(), full[weight].numpy())
        elif name.endswith(CHANGE) and weight in base and {weight + LARGEST, weight + ROWS} <= stored.keys():
            full[weight] = base[weight].clone()
            rows, largest = stored[weight + ROWS].numpy(), stored[weight + LARGEST].numpy()
            change(weight, full[weight].numpy(), rows, tensor.numpy(), largest)
        elif not name.endswith((LARGEST, ROWS)):
            full[name] = tensor.float() if tensor.is_floating_point() else tensor
    return full


def _rounded(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Shape: (bits, numbers / 8), (rows,)"""
    rows = weight.flatten(1)  # (rows, columns)
    largest = rows.abs().amax(1).half()
    n_steps = 2 ** (bits - 1) - 1  # from nothing to the largest
    step = largest.float().unsqueeze(1) / n_steps
    numbers = torch.where(step > 0, rows / step, 0).round().clamp(-n_steps, n_steps) + n_steps
    planes = to_planes(numbers.flatten().numpy().astype(np.uint16), bits)
    return torch.from_numpy(planes), largest


def write_weights(weights: Mapping[str, Tensor], path: Path) -> None:
    from safetensors.torch import save

    replace_file(path, save({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}))
