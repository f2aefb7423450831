"""The settings of a service: limits of sizes and time, how its models are loaded, its replicas on Ray.

The command line uses it, too: no torch here before models are loaded, and no Ray.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from disconer.core.errors import DisconerError
from disconer.predict.settings import Precision, RuntimeName
from disconer.text import SplitterName

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on everything that a client could make large or slow.

    A request: `body_bytes`, `texts` in it, `text_characters` of each, `entities` of its answer. Entities to be drawn:
        `drawn_characters` of all together, from the first to the last of each, as answers repeat their texts.
    The queue before the model: `queue_texts` and `queue_characters`; more is rejected at once, unless
        nothing else is waiting.
    A batch for the model: `batch_texts` and `batch_characters`. While the model is idle, the first text
        waits `batch_seconds` for others to join it.
    Time: `head_seconds` and `body_seconds` for a request to arrive, `answer_seconds` until it is answered,
        `write_seconds` for a client that does not read its answer, `idle_seconds` between two requests.
    """

    body_bytes: int = 1_000_000
    texts: int = 256
    text_characters: int = 100_000
    entities: int = 200_000
    drawn_characters: int = 1_000_000
    queue_texts: int = 256
    queue_characters: int = 200_000
    batch_texts: int = 64
    batch_characters: int = 20_000
    batch_seconds: float = 0.002
    connections: int = 512
    head_seconds: float = 10
    body_seconds: float = 30
    answer_seconds: float = 60
    write_seconds: float = 30
    idle_seconds: float = 30

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (value == 0 and field.name != "batch_seconds"):
                raise DisconerError(f"The limit {field.name} must be more than 0", got=str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How all models of a service are loaded; see `Recognizer`."""

    device: str | None = None
    splitter: SplitterName | None = None
    parser: str | None = None
    runtime: RuntimeName | None = None
    precision: Precision = "fp32"


AS_USUAL = Loading()


def load_recognizers(models: Mapping[str, str], loading: Loading = AS_USUAL) -> dict[str, Recognizer]:
    """The recognisers of models, given as paths by name."""
    from disconer.predict.recognizer import Recognizer  # only here: it may import torch

    return {name: Recognizer.from_pretrained(where, **asdict(loading)) for name, where in models.items()}


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
class RayPlan:
    """The resources to request from a Ray cluster.

    threads: threads of the model, and CPUs that Ray reserves, per replica.
    gpus: GPUs that Ray reserves per replica; 0.5 lets two replicas share one.
    """

    replicas: Replicas = Replicas(1, 1)
    threads: int = 1
    gpus: float = 0.0
