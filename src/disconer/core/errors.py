"""Readable errors: what happened, where, what was got and expected, what to do next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

INTERRUPTED = 130  # the exit code of a command that was interrupted by Ctrl-C


@dataclass(frozen=True, slots=True)
class Where:
    """A location in the user's data. Every part is optional; `str` joins those that are known."""

    path: str | None = None
    line: int | None = None
    offset: int | None = None
    document: str | None = None
    entity: str | None = None

    def __str__(self) -> str:
        parts = [
            self.path,
            self.line and f"line {self.line}",
            self.document and f"document {self.document!r}",
            self.entity and f"entity {self.entity}",
            None if self.offset is None else f"offset {self.offset}",
        ]
        return ", ".join(part for part in parts if part)


_SKIPPING = re.compile(r", or [^,.]*--skip-bad[^.]*")


class DisconerError(Exception):
    """An error that the user can fix. `str` is one readable paragraph."""

    def __init__(
        self,
        what: str,
        *,
        where: Where | None = None,
        got: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.what, self.where, self.got, self.expected, self.fix = what, where, got, expected, fix
        super().__init__(self._paragraph())

    def changed(self, **parts: Any) -> Self:
        """The same error with other parts."""
        other = type(self).__new__(type(self))
        other.__dict__ |= self.__dict__ | parts
        other.args = (other._paragraph(),)
        return other

    def without_skipping(self) -> Self:
        """The same error without the advice to add --skip-bad, for where nothing can be skipped."""
        return self.changed(fix=_SKIPPING.sub("", self.fix)) if self.fix else self

    def _paragraph(self) -> str:
        place = f"{self.where}: " if self.where and str(self.where) else ""
        text = f"{place}{self.what.rstrip('.')}."
        if self.got is not None:
            text += f" Got {self.got}" + (f", expected {self.expected}." if self.expected else ".")
        elif self.expected is not None:
            text += f" Expected {self.expected}."
        return f"{text} {self.fix}" if self.fix else text


class DisconerWarning(UserWarning):
    """A warning for the user; work continues."""


class BadInput(DisconerError):
    """Invalid input. `problem` is its class, by which `check` counts."""

    def __init__(
        self,
        problem: str,
        what: str,
        *,
        where: Where | None = None,
        got: str | None = None,
        expected: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem = problem
        super().__init__(what, where=where, got=got, expected=expected, fix=fix)


def excerpt(value: object, limit: int = 60) -> str:
    """`repr` of a value, shortened to fit into a message."""
    try:
        text = value if isinstance(value, str) else str(value)
    except (RecursionError, ValueError):  # nested without end, or an integer of thousands of digits
        text = f"a very large {type(value).__name__}"
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listed(names: Sequence[str], most: int) -> str:
    """Names for a message, at most `most` of them.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def first_line(error: BaseException) -> str:
    """What an error of another library says, short enough for a message of ours."""
    said = str(error).strip() or type(error).__name__
    return said.split("\n")[0].rstrip(".")
