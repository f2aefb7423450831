"""All problems of a configuration, in one readable error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from disconer.core.errors import DisconerError, Where

Key = tuple[str | int, ...]  # the path of a value: ("training", "seed")


class Problem(NamedTuple):
    """A problem: its key, what is wrong, and where (a line, an override)."""

    key: Key
    what: str
    place: str | None = None

    def __str__(self) -> str:
        name = dotted(self.key)
        place = f" ({self.place})" if self.place else ""
        return f"{name}{place}: {self.what}" if name else f"{self.place}: {self.what}" if self.place else self.what


def dotted(key: Key) -> str:
    """The name of a key, as in overrides: training.seed."""
    return ".".join(map(str, key))


class ConfigError(DisconerError):
    """An invalid configuration, with all of its `problems`."""

    def __init__(self, problems: Sequence[Problem], origin: str | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__("This configuration is invalid", where=Where(origin))

    def _paragraph(self) -> str:
        count = f"{len(self.problems)} problems" if len(self.problems) > 1 else "a problem"
        place = f"{self.where}: " if str(self.where) else ""
        return f"{place}This configuration has {count}:" + "".join(f"\n  {problem}" for problem in self.problems)
