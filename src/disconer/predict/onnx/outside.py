"""Finds tensors of a graph that ONNX Runtime would read from other files. No torch and no onnx here: the fields of an
ONNX file are walked as protobuf writes them, and only where tensors may be. Values of tensors are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path

Data = bytes | mmap
Field = tuple[int, int, int, int]  # its number; its value, if that is a number; the range of its bytes, if not

# The messages of onnx.proto that lead to tensors, each with the numbers of the fields that do.
LEADING: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
NAME, EXTERNAL_DATA, DATA_LOCATION = 8, 13, 14  # of a tensor
VARINT, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5  # how a value is written
DEEPEST = 64  # graphs within graphs: deeper nesting is meant to exhaust the stack


def tensors_outside(graph: Path | bytes, given: Collection[str] = ()) -> list[str]:
    """The names of the tensors of a graph whose values are in other files.

    given: weights of the graph itself that are handed to ONNX Runtime, which then reads no file for them.
    Raises `ValueError` for what is not an ONNX file.
    """
    if isinstance(graph, bytes):
        return list(_outside(graph, given))
    with graph.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        return list(_outside(data, given))


def _outside(data: Data, given: Collection[str]) -> Iterator[str]:
    for path, start, end in _tensors(data, 0, len(data), ("model",)):
        fields = list(_fields(data, start, end))
        if any(number == EXTERNAL_DATA or (number == DATA_LOCATION and value) for number, value, _, _ in fields):
            names = [bytes(data[begin:stop]).decode() for number, _, begin, stop in fields if number == NAME]
            name = names[-1] if names else ""
            if path != ("model", "graph", "tensor") or name not in given:
                yield name


def _tensors(data: Data, start: int, end: int, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each tensor: the messages that lead to it, and its range."""
    if path[-1] == "tensor":
        yield path, start, end
        return
    if len(path) > DEEPEST:
        raise ValueError(f"more than {DEEPEST} parts within each other")
    leading = LEADING[path[-1]]
    for number, _, begin, stop in _fields(data, start, end):
        if number in leading:
            yield from _tensors(data, begin, stop, (*path, leading[number]))


def _fields(data: Data, start: int, end: int) -> Iterator[Field]:
    while start < end:
        key, start = _varint(data, start, end)
        number, written = key >> 3, key & 7
        if written == VARINT:
            value, start = _varint(data, start, end)
            yield number, value, start, start
            continue
        if written == BYTES:
            size, start = _varint(data, start, end)
        elif written in (FIXED_32, FIXED_64):
            size = 4 if written == FIXED_32 else 8
        else:
            raise ValueError(f"a field is written in an unknown way ({written})")
        if start + size > end:
            raise ValueError("the file ends within a field")
        yield number, 0, start, start + size
        start += size


def _varint(data: Data, start: int, end: int) -> tuple[int, int]:
    """A number of 7 bits a byte, and where it ends."""
    value = shift = 0
    while start < end and shift < 70:
        byte = data[start]
        value |= (byte & 127) << shift
        start, shift = start + 1, shift + 7
        if byte < 128:
            return value, start
    raise ValueError("the file ends within a number")
