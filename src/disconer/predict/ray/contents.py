"""What the parts of an output were made from: a digest of the input of each, made as it is read. No Ray here."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from disconer.core.errors import DisconerError, Where
from disconer.predict.local.manifest import CHANGED
from disconer.predict.walk import Walk

_DIGEST_BYTES = 16


class PartsWalk(Walk):
    """A walk through the input of parts. What a finished part was made from must be there as it was.

    finished: digests of the input of finished parts, by their numbers.
    """

    def __init__(self, blocks_per_part: int, finished: Mapping[int, str]) -> None:
        super().__init__()
        self._blocks_per_part = blocks_per_part
        self._finished = dict(finished)
        self._part = 0
        self._of_part = _new()
        self._known: dict[int, str] = {}

    def step(self, record: bytes, size: int) -> int:
        block = super().step(record, size)
        if block // self._blocks_per_part != self._part:
            self._close()
            self._part = block // self._blocks_per_part
        self._of_part.update(record)
        return block

    def end(self) -> None:
        """The input has ended, and with it the last part."""
        self._close()
        for part in self._finished:
            raise _changed(part)

    def taken(self) -> dict[int, str]:
        """The digests of the parts that have been read since the last call."""
        known, self._known = self._known, {}
        return known

    def _note(self, name: bytes, content: bytes) -> None:
        super()._note(name, content)
        self._of_part.update(name + content)

    def _close(self) -> None:
        digest = self._of_part.hexdigest()
        if self._finished.pop(self._part, digest) != digest:
            raise _changed(self._part)
        self._known[self._part] = digest
        self._of_part = _new()


def _new() -> blake2b:
    return blake2b(digest_size=_DIGEST_BYTES)


def _changed(part: int) -> DisconerError:
    return DisconerError(
        "This part already exists, but of another input",
        where=Where(f"part-{part:06}"),
        got=CHANGED,
        fix="Choose another folder for --out, or add --force to start again.",
    )
