"""What is wrong with a configuration, said for people, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from disconer.core.errors import DisconerError, Where

Key = tuple[str | int, ...]  # the way to a value: ("training", "seed")


class Problem(NamedTuple):
    """One thing that is wrong: with which key, what, and where that was said (a line, an override)."""

    key: Key
    what: str
    place: str | None = None

    def __str__(self) -> str:
        name = dotted(self.key)
        place = f" ({self.place})" if self.place else ""
        return f"{name}{place}: {self.what}" if name else f"{self.place}: {self.what}" if self.place else self.what


def dotted(key: Key) -> str:
    """The name of a key, as overrides have it: training.seed."""
    return ".".join(map(str, key))


class ConfigError(DisconerError):
    """A configuration that cannot be used. `problems` has everything that is wrong with it."""

    def __init__(self, problems: Sequence[Problem], origin: str | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__("This configuration cannot be used", where=Where(origin))

    def _paragraph(self) -> str:
        count = f"{len(self.problems)} problems" if len(self.problems) > 1 else "a problem"
        place = f"{self.where}: " if str(self.where) else ""
        return f"{place}This configuration has {count}:" + "".join(f"\n  {problem}" for problem in self.problems)
