"""Ways to damage a file: its bytes, its JSON, the members of an archive."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

PIECES = [
    *(
        b"",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\t",
        b" ",
        b",",
        b";",
        b"|",
        b"#",
        b"-",
    ),
    *(b'"', b"{", b"}", b"[", b"]", b"<", b">", b"&amp;", b"&#0;", b"]]>", b"<!--", b"</passage>", b"<text>", b"'"),
    *(b"-1", b"0", b"1e9", b"NaN", b"9" * 20, b"9" * 5000, b"null", b"true", b"\\ud83d", b"\\u0000", b"\xe2\x80\xa8"),
    *(
        b"T1",
        b"T2\tADR 0 4\t",
        b"R1\tx Arg1:T1 Arg2:T2",
        b"-DOCSTART- (x)\tO",
        b"B-ADR",
        b"HB-ADR",
        b"I-",
        b"../",
        b"O",
    ),
    *(b"\xf0\x9f\x98\x80", b"\xcc\x81", b"e\xcc\x81", b"1-2", b"# newdoc id = x", b"_", b"[" * 300, b"a" * 300),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**40, 0.5, 1e300, "", "x", "T1", " ", "a\nb", "\ud83d", "x" * 400, "é/ü", "../a"),
    *(
        [],
        {},
        [0],
        [[0, 4]],
        [[0, 1], [2, 3]],
        ["x"],
        {"a": 1},
        [None],
        {"begin": 0, "end": 1},
        {"type": 3},
        [[[[[]]]]],
    ),
]


def mutated_bytes(content: bytes, rng: random.Random) -> bytes:
    """One to four changes anywhere."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        place = rng.randrange(len(data) + 1)
        end = min(len(data), place + rng.choice([1, 1, 2, 8, 40]))
        match rng.randrange(7):
            case 0:
                data[place:end] = bytes(rng.randrange(256) for _ in range(end - place))
            case 1:
                del data[place:end]
            case 2:
                data[place:place] = rng.choice(PIECES)
            case 3:
                data[place:end] = rng.choice(PIECES)
            case 4:
                data[place:place] = data[place : place + rng.choice([5, 30, 200])]
            case 5 if place < len(data):
                data[place] ^= 1 << rng.randrange(8)
            case _:
                start = rng.randrange(len(data) + 1)
                data[place:end] = data[start : start + end - place]
    if rng.random() < 0.05:
        del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def mutated_json(content: bytes, rng: random.Random) -> bytes:
    """One to three values of a JSON file, or of one of its lines, replaced, removed, repeated or renamed."""
    lines = content.split(b"\n")
    try:
        values = [json.loads(content)]
        separator = b""
    except ValueError:
        try:
            values, separator = [json.loads(line) for line in lines if line.strip()], b"\n"
        except ValueError:
            return mutated_bytes(content, rng)
    for _ in range(rng.choice([1, 1, 2, 3])):
        _mutate_value(values, rng)
    return separator.join(json.dumps(value).encode() for value in values)


def _mutate_value(root: Any, rng: random.Random) -> None:
    container = root
    while True:
        keys: list[Any] = list(container if isinstance(container, dict) else range(len(container)))
        if not keys:
            return
        key = rng.choice(keys)
        child = container[key]
        if not isinstance(child, dict | list) or rng.random() < 0.2:
            break
        container = child
    match rng.randrange(6):
        case 0:
            del container[key]
        case 1 if isinstance(container, list):
            container.append(child)
        case 2 if isinstance(container, dict):
            container[rng.choice([*keys, "x", ""])] = child
        case 3 if type(child) is int:
            container[key] = child + rng.choice([-1, 1, -100, 100])
        case 4 if isinstance(child, str):
            container[key] = mutated_bytes(child.encode("utf-8", "replace"), rng).decode("utf-8", "replace")
        case _:
            container[key] = json.loads(json.dumps(rng.choice(VALUES)))


def mutated_zip(content: bytes, rng: random.Random) -> bytes:
    """The archive's own bytes, or a member's content or name."""
    if rng.random() < 0.5:
        return mutated_bytes(content, rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        names = archive.namelist()
        chosen = rng.choice(names)
        for name in names:
            data = archive.read(name)
            if name == chosen and rng.random() < 0.2:
                name = mutated_bytes(name.encode(), rng).decode("utf-8", "replace").replace("\0", "x")[:100] or "x"
            elif name == chosen:
                data = mutated_bytes(data, rng)
            out.writestr(name, data)
    return packed.getvalue()


def mutated_gzip(content: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return mutated_bytes(content, rng)
    return gzip.compress(mutated_bytes(gzip.decompress(content), rng), 1)


def mutation_for(name: str, rng: random.Random) -> Callable[[bytes, random.Random], bytes]:
    """A way to damage a file of that name."""
    if name.endswith(".zip"):
        return mutated_zip
    if name.endswith(".gz"):
        return mutated_gzip
    if name.endswith((".json", ".jsonl")) and rng.random() < 0.6:
        return mutated_json
    return mutated_bytes
