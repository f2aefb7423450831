"""The weights of a model folder as arrays, one by one, whichever way they are stored. No torch here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from disconer.core.places import BUNDLED_ENCODERS, WEIGHTS
from disconer.nn.encoders.transformer.bundled import COMPACT_WEIGHTS, IN_NETWORK
from disconer.nn.reader import Floats
from disconer.nn.weights import CHANGE, LARGEST, PLANES, ROWS, Bytes, change, restore
from disconer.store.description import compact_description, damaged_weights

HEADER_SIZE = 8  # bytes: of the number that says how long the header is
TYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}  # as safetensors names them


class ModelWeights:
    """The weights of the model in a folder, each read when it is requested: memory never holds more than is used.

    description: its config.json.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any]) -> None:
        compact = compact_description(description, folder)
        self._path = folder / WEIGHTS
        self._base: _WeightFile | None = None
        with damaged_weights(self._path):
            self._stored = _WeightFile(self._path)
        if compact.base is not None and compact.base_digest is not None:
            self._base = _WeightFile(BUNDLED_ENCODERS / compact.base / COMPACT_WEIGHTS)

    def read(self, name: str, shape: tuple[int, ...], room: Floats | None = None) -> NDArray[Any]:
        """One weight, in 32 bits. room: an array of its shape to write it to, unless it is not floating-point."""
        with damaged_weights(self._path):
            return self._stored.read(name, np.empty(shape, np.float32) if room is None else room, self._base)


class _WeightFile:
    """A safetensors file. Arrays are read, not memory-mapped: mapped ones would stay in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with open(path, "rb") as stream:
            n_bytes = int.from_bytes(stream.read(HEADER_SIZE), "little")
            if n_bytes > path.stat().st_size:
                raise RuntimeError("its header is longer than the file")
            self._entries: dict[str, Any] = json.loads(stream.read(n_bytes))
        self._start = HEADER_SIZE + n_bytes

    def read(self, name: str, room: Floats, base: _WeightFile | None = None) -> NDArray[Any]:
        """base: what a weight of the encoder was before training, if only the change is stored."""
        if name + PLANES in self._entries:
            restore(name, self._planes(name + PLANES), self._array(name + LARGEST), room)
            return room
        if name + CHANGE in self._entries and base is not None:
            base.read(name.removeprefix(IN_NETWORK), room)
            rows, largest = self._array(name + ROWS), self._array(name + LARGEST)
            change(name, room, rows, self._planes(name + CHANGE), largest)
            return room
        weight = self._array(name)
        if weight.shape != room.shape:
            raise RuntimeError(f"size mismatch for {name}: the network has {room.shape}")
        if not np.issubdtype(weight.dtype, np.floating):
            return weight
        room[...] = weight
        return room

    def _array(self, name: str) -> NDArray[Any]:
        dtype, shape, start, n_bytes = self._entry(name)
        return np.fromfile(self._path, dtype, n_bytes // dtype.itemsize, offset=start).reshape(shape)

    def _planes(self, name: str) -> _StoredPlanes:
        _, shape, start, n_bytes = self._entry(name)
        if len(shape) != 2 or prod(shape) != n_bytes:
            raise RuntimeError(f"{name} has {n_bytes} bytes")
        return _StoredPlanes(self._path, start, shape)

    def _entry(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
        """Of an array its type and shape, where it starts, and how many bytes it has."""
        if name not in self._entries:
            raise RuntimeError(f"{name} is missing")
        entry = self._entries[name]
        first, end = entry["data_offsets"]
        return np.dtype(TYPES[entry["dtype"]]), tuple(entry["shape"]), self._start + first, end - first


@dataclass(frozen=True, slots=True)
class _StoredPlanes:
    """Bit planes in a file; only the requested columns are read into memory. See `Planes`."""

    path: Path
    start: int
    shape: tuple[int, ...]

    def __getitem__(self, key: tuple[slice, slice], /) -> Bytes:
        """All planes, and a slice of columns."""
        n_planes, n_columns = self.shape
        first, end, _ = key[1].indices(n_columns)
        with open(self.path, "rb") as stream:
            return np.stack([self._read(stream, number * n_columns + first, end - first) for number in range(n_planes)])

    def _read(self, stream: BinaryIO, place: int, n_bytes: int) -> Bytes:
        stream.seek(self.start + place)
        return np.frombuffer(stream.read(n_bytes), np.uint8)
