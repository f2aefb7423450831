"""How many replicas, and what each of them may use. No Ray here: the command line reads it, too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from disconer.core.errors import DisconerError


@dataclass(frozen=True, slots=True)
class Replicas:
    """As many as that, or as many as the load asks for between two bounds.

    >>> Replicas.parse("2-8")
    Replicas(least=2, most=8)
    """

    least: int
    most: int

    @classmethod
    def parse(cls, text: str) -> Replicas:
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
        bounds = cls(int(found[1]), int(found[2] or found[1])) if found else None
        if bounds is None or not 1 <= bounds.least <= bounds.most:
            raise DisconerError(
                "--replicas says how many processes answer", got=repr(text), expected="a number, such as 3, or 1-4"
            )
        return bounds

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most

    def __str__(self) -> str:
        if self.is_fixed:
            return "1 replica" if self.least == 1 else f"{self.least} replicas"
        return f"{self.least} to {self.most} replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to ask of the cluster.

    threads: of the model, and processors that Ray sets aside, of each replica.
    gpus: that Ray sets aside for each replica; 0.5 lets two share one.
    """

    replicas: Replicas = Replicas(1, 1)
    threads: int = 1
    gpus: float = 0.0
