"""The history of a document's annotations: who changed what and when; the basis of undo and redo.

It is a file of one JSON object per line that is only ever appended to. A step is recorded before it is written to the
annotations, so that after a crash the last one either happened or is known not to have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from disconer.annotate.changes import Key
from disconer.core.files import append_line
from disconer.core.types import Fragment

Kind = Literal["edit", "accept", "reject", "undo", "redo", "resolve"]


@dataclass(frozen=True, slots=True)
class Splice:
    """The difference of two texts: at an offset, `old` was replaced by `new`."""

    offset: int
    old: str
    new: str

    @classmethod
    def between(cls, before: str, after: str) -> Splice:
        """
        >>> Splice.between("T1 a\\nT2 b\\n", "T1 a\\nT2 c\\n")
        Splice(offset=8, old='b', new='c')
        """
        start = _shared(before, after)
        end = _shared(before[start:][::-1], after[start:][::-1])
        return cls(start, before[start : len(before) - end], after[start : len(after) - end])

    def apply(self, text: str) -> str:
        end = self.offset + len(self.old)
        if text[self.offset : end] != self.old:
            raise ValueError("the text is not the one that was changed")
        return text[: self.offset] + self.new + text[end:]

    @property
    def inverse(self) -> Splice:
        return Splice(self.offset, self.new, self.old)


def _shared(one: str, other: str) -> int:
    """The length of the longest common prefix, by halving: texts may have millions of characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a document's annotations.

    at, by: when, as ISO 8601, and who. before, after: the versions. splice: what changed in the file.
    reject, restore: suggestions that are not, or again, to be shown.
    """

    kind: Kind
    at: str
    by: str
    before: str
    after: str
    splice: Splice
    reject: tuple[Key, ...] = ()
    restore: tuple[Key, ...] = ()

    def to_record(self) -> dict[str, Any]:
        splice = [self.splice.offset, self.splice.old, self.splice.new]
        record: dict[str, Any] = {"kind": self.kind, "at": self.at, "by": self.by, "before": self.before}
        record |= {"after": self.after, "splice": splice}
        record |= {"reject": self.reject} if self.reject else {}
        return record | ({"restore": self.restore} if self.restore else {})

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Step:
        reject, restore = (tuple(map(_key, record.get(name, ()))) for name in ("reject", "restore"))
        said = {name: record[name] for name in ("kind", "at", "by", "before", "after")}
        return cls(**said, splice=Splice(*record["splice"]), reject=reject, restore=restore)


def _key(value: Sequence[Any]) -> Key:
    label, fragments = value
    return label, tuple(Fragment(*fragment) for fragment in fragments)


@dataclass(slots=True)
class History:
    """What was done to a document: steps to undo, the last one last, and to redo; and the rejected suggestions."""

    version: str | None = None
    undo: list[Step] = field(default_factory=list)
    redo: list[Step] = field(default_factory=list)
    rejected: set[Key] = field(default_factory=set)

    def add(self, step: Step) -> None:
        """Add the next step."""
        if step.before != self.version:  # the file was changed by another program: earlier steps do not apply to it
            self.undo.clear()
            self.redo.clear()
        self.version = step.after
        self.rejected = (self.rejected | set(step.reject)) - set(step.restore)
        if step.kind == "undo":
            self.redo += self.undo[-1:]
            del self.undo[-1:]
        elif step.kind == "redo":
            self.undo += self.redo[-1:]
            del self.redo[-1:]
        else:
            self.undo.append(step)
            self.redo.clear()

    def undoable(self, version: str) -> Step | None:
        """The step to undo for a file of this version."""
        return self.undo[-1] if self.undo and self.version == version else None

    def redoable(self, version: str) -> Step | None:
        return self.redo[-1] if self.redo and self.version == version else None


class HistoryFile:
    """The file of a history."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[int, History] | None = None  # the size of the file when it was read

    def load(self, version: str) -> History:
        """The history of a file of this version. A last step that never reached the file is left out."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if self._read is None or self._read[0] != size or self._read[1].version != version:
            self._read = (size, _history(list(self._steps()), version))
        return self._read[1]

    def _steps(self) -> Iterator[Step]:
        if not self.path.exists():
            return
        for line in self.path.read_bytes().split(b"\n")[:-1]:  # what follows the last line end was cut off
            yield Step.from_record(json.loads(line))

    def append(self, step: Step) -> None:
        append_line(self.path, json.dumps(step.to_record(), ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if self._read is not None:
            history = self._read[1]
            history.add(step)
            self._read = (self.path.stat().st_size, history)


def _history(steps: list[Step], version: str) -> History:
    history = History()
    for step, following in zip(steps, [*(step.before for step in steps[1:]), version], strict=False):
        if step.after == following or step.before != following:  # else it never reached the file
            history.add(step)
    return history
