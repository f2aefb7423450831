"""Limits of the service: sizes and timeouts."""

from __future__ import annotations

from dataclasses import dataclass, fields

from disconer.core.errors import DisconerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on everything that a client could make large or slow.

    A request: `body_bytes`, `texts` in it, `text_characters` of each, `entities` of its answer.
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
