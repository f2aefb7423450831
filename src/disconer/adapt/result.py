"""What an adaptation comes to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class AdaptResult:
    """The adapted encoder's folder, and the figures of its run.

    pieces: read in training, passes over the same text counted again.
    epochs: passes over the text.
    loss: mean over the last steps, in nats a guessed piece.
    perplexity_before, perplexity_after: of pieces guessed in text held out; None without such text.
    new_head: the encoder came without the layer that guesses pieces, so that `perplexity_before` is as good as chance.
    """

    folder: Path
    steps: int
    pieces: int
    epochs: float
    seconds: float
    loss: float
    perplexity_before: float | None
    perplexity_after: float | None
    new_head: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"folder": str(self.folder)}
