"""Which entities of a document share text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Key = tuple[Hashable, Sequence[tuple[int, int]]]  # label and fragments


def sharing_text(keys: Sequence[Key]) -> list[bool]:
    """For each entity, whether another one has some of its characters. A repeated annotation is no other one.

    >>> sharing_text([("A", ((0, 4),)), ("A", ((0, 4),)), ("B", ((6, 9), (11, 12))), ("B", ((8, 10),))])
    [False, False, True, True]
    """
    numbers: dict[Key, int] = {}
    owners = [numbers.setdefault(key, len(numbers)) for key in keys]
    sweep = sorted([(start, end, owner) for owner, key in zip(owners, keys, strict=True) for start, end in key[1]])
    shares = [False] * len(numbers)
    reach, reached_by = 0, -1  # the furthest end so far; whoever overlaps anything earlier overlaps its owner
    for start, end, owner in sweep:
        if start < reach and owner != reached_by:
            shares[owner] = shares[reached_by] = True
        if end > reach:
            reach, reached_by = end, owner
    return [shares[owner] for owner in owners]
