"""Sizes that the files of a model state, checked before memory is taken for them.

Every weight of a network is stored, in at least six bits; only differences from a bundled encoder are not. So a network
with many more weights than its file has bytes is not this file's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from disconer.core.errors import DisconerError, Where
from disconer.core.files import BUNDLED_ENCODERS, CONFIG
from disconer.nn.encoders.transformer.bundled import COMPACT_WEIGHTS

WEIGHTS_PER_BYTE = 2  # more than the 8/6 of the fewest bits
NOT_STORED = 2**20  # numbers that are computed, not stored, such as positions
MOST_LAYERS = 1000
# What is built so many times.
_REPEATED = ("layers", "blocks", "heads", "experts", "highways", "num_hidden_groups", "inner_group_num")


def check_sizes(description: Mapping[str, Any], weights: Path, base: str | None) -> None:
    """Refuse numbers that no network has which fits the weights: any may be the length of a loop or of a vector."""
    if not weights.is_file():
        raise DisconerError(
            "The weights of this model are missing", where=Where(str(weights)), fix="Copy the complete model again."
        )
    most = _most_weights(weights, base)
    config = description.get("config", {})
    sections = {f"config.{name}": config.get(name) for name in ("encoder", "syntax", "head")}
    for section, values in (sections | {"encoder": description.get("encoder")}).items():
        for name, number in _numbers(values, section):
            limit = MOST_LAYERS if name.endswith(_REPEATED) else most
            if number > limit:
                raise _too_large(weights, f"{name} = {str(number)[:30]}", f"at most {limit:,}")


def check_parameters(network: nn.Module, weights: Path, base: str | None) -> None:
    """Refuse a network with more weights than its file can hold. network: on the device meta, without memory."""
    n_weights, most = sum(weight.numel() for weight in network.state_dict().values()), _most_weights(weights, base)
    if n_weights > most:
        raise _too_large(weights, f"a network of {n_weights:,} weights", f"at most {most:,}")


def _most_weights(weights: Path, base: str | None) -> int:
    files = [weights, *([BUNDLED_ENCODERS / base / COMPACT_WEIGHTS] if base else [])]
    n_bytes = sum(path.stat().st_size for path in files if path.is_file())
    return WEIGHTS_PER_BYTE * n_bytes + NOT_STORED


def _numbers(value: Any, name: str) -> Iterator[tuple[str, int]]:
    """Every whole number of a JSON value, with its name."""
    if isinstance(value, int):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{name}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item, name)


def _too_large(weights: Path, got: str, expected: str) -> DisconerError:
    return DisconerError(
        "The configuration of this model describes a network that its weights do not fill",
        where=Where(str(weights.with_name(CONFIG))),
        got=got,
        expected=f"{expected}, by the size of {weights.name}",
        fix="Copy the complete model again, or do not trust it.",
    )
