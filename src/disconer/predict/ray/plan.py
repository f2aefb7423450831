"""The settings of `--ray`, and the plan of a prediction that the reader and all actors get. No Ray here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from disconer.core.errors import DisconerError
from disconer.predict.inputs import Share, Unit
from disconer.predict.settings import Settings
from disconer.predict.walk import BLOCK_BYTES

RAY_OPTION = "--ray"
HERE = "local"  # in place of an address: a local Ray


def check_ray_installed(*packages: str) -> None:
    """packages: further packages needed besides Ray."""
    missing = [name for name in ("ray", *packages) if find_spec(name) is None]
    if missing:
        raise DisconerError(
            f"{RAY_OPTION} needs packages that are not installed: {', '.join(missing)}",
            fix="Install them: pip install 'disconer[ray]'.",
        )


MOST_PARTS = 1000  # of an input of any size; each is a file and a manifest
LEAST_BLOCKS = 8  # of a part: about a minute's work


@dataclass(frozen=True, slots=True)
class Plan:
    """A prediction.

    given: the inputs' paths or URLs, with their formats. model: what its files must be (see `model_identity`).
    to: the encoding of the output. blocks_per_part: how many of the input's blocks make a part.
    finished: parts that are there already, each with a digest of its input.
    """

    given: tuple[tuple[str, str | None], ...]
    settings: Settings
    model: str
    to: str
    blocks_per_part: int
    skip_bad: bool = False
    finished: Mapping[int, str] = field(default_factory=dict)

    @property
    def rest(self) -> Rest:
        """What of the input is left to do."""
        return Rest(1, 1, frozenset(self.finished), self.blocks_per_part)


@dataclass(frozen=True, slots=True)
class Rest(Share):
    """All of an input but the blocks of finished parts, counted from 0. These are read, as they may have changed."""

    finished: frozenset[int]
    blocks_per_part: int

    def has(self, block: int) -> bool:
        return block // self.blocks_per_part not in self.finished

    def reads(self, block: int) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Cluster:
    """What to ask of Ray.

    address: of a cluster, or `local` for a Ray of its own. actors: None for as many as there is room for.
    gpus_per_actor: 0.5 lets two share one.
    """

    address: str
    actors: int | None = None
    gpus_per_actor: float = 0.0


def blocks_per_part(inputs: Sequence[Unit]) -> int:
    """As many as keep the number of parts in bounds. It follows from the input alone, so that a later run agrees."""
    n_blocks = sum(unit.size for unit in inputs) // BLOCK_BYTES
    return max(LEAST_BLOCKS, -(-n_blocks // MOST_PARTS))
