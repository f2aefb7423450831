"""The weights of a model folder as arrays, one by one, whichever way they are stored. No torch here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disconer.core.errors import DisconerError, Where, excerpt
from disconer.core.files import BUNDLED_ENCODERS, WEIGHTS
from disconer.nn.encoders.transformer.bundled import COMPACT_WEIGHTS, IN_NETWORK, check_base
from disconer.nn.unpacking import CHANGE, LARGEST, PLANES, ROWS, changed, restored
from disconer.store.exported import COMPACT, CompactDescription
from disconer.store.graphs import Shapes


def read_weights(folder: Path, description: Mapping[str, Any], shapes: Shapes) -> dict[str, NDArray[Any]]:
    """Some weights of the model in a folder, with 32 bits.

    description: its config.json. shapes: of those that are wanted, by name.
    """
    compact = CompactDescription(**description.get(COMPACT, {}))
    path = folder / WEIGHTS
    with damaged_weights(path):
        stored = _StoredWeights(path)
        if compact.base is None or compact.base_digest is None:
            return {name: stored.read(name, shape) for name, shape in shapes.items()}
        check_base(compact.base, compact.base_digest, folder)
        base = _StoredWeights(BUNDLED_ENCODERS / compact.base / COMPACT_WEIGHTS)
        return {name: stored.read(name, shape, base) for name, shape in shapes.items()}


class _StoredWeights:
    """A file of weights; none is read before it is asked for, so that memory never holds more than what is used."""

    def __init__(self, path: Path) -> None:
        from safetensors import safe_open

        self._file: Any = safe_open(path, "numpy")
        self._names = frozenset(self._file.keys())

    def read(self, name: str, shape: tuple[int, ...], base: _StoredWeights | None = None) -> NDArray[Any]:
        """One weight. base: where a weight of the encoder was before training, if only the change is stored."""
        get = self._file.get_tensor
        if name + PLANES in self._names:
            return restored(name, get(name + PLANES), get(name + LARGEST), shape)
        if name + CHANGE in self._names and base is not None:
            before = base.read(name.removeprefix(IN_NETWORK), shape)
            return changed(name, before, get(name + ROWS), get(name + CHANGE), get(name + LARGEST))
        weight: NDArray[Any] = get(name)
        if weight.shape != shape:
            raise RuntimeError(f"size mismatch for {name}: the network has {shape}")
        return weight.astype(np.float32) if weight.dtype == np.float16 else weight


@contextmanager
def damaged_weights(path: Path) -> Iterator[None]:
    """Say what is wrong with the weights of a model that cannot be read in this block."""
    from safetensors import SafetensorError

    try:
        yield
    except FileNotFoundError as error:
        raise DisconerError(
            "The weights of this model are missing", where=Where(str(path)), fix="Copy the complete model again."
        ) from error
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DisconerError(
            "The weights of this model are damaged or belong to another model",
            where=Where(str(path)),
            got=excerpt(" ".join(str(error).split()), 160),
            fix="Copy the complete model again.",
        ) from error
