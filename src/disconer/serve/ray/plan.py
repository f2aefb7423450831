"""The number of replicas and their resources. Does not import Ray: the command line uses it too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from disconer.core.errors import DisconerError


@dataclass(frozen=True, slots=True)
class Replicas:
    """A fixed number of replicas, or autoscaling between two bounds.

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
                "--replicas takes a number or a range", got=repr(text), expected="a number, such as 3, or 1-4"
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
    """The resources to request from the cluster.

    threads: threads of the model, and CPUs that Ray reserves, per replica.
    gpus: GPUs that Ray reserves per replica; 0.5 lets two replicas share one.
    """

    replicas: Replicas = Replicas(1, 1)
    threads: int = 1
    gpus: float = 0.0
