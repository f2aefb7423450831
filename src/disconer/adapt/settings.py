"""What can be set of an adaptation, and what it comes to. No torch here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from disconer.core.errors import DisconerError

Precision = Literal["auto", "fp32", "bf16", "fp16"]

SHORTEST = 16  # pieces: below, what surrounds a masked piece says too little


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptSettings:
    """How an encoder is adapted.

    steps, minutes: when to stop, whichever comes first; the rate falls to zero by then. `minutes` is the time of the
        whole run, from reading the text to the saved encoder.
    epochs: passes over the text, if neither `steps` nor `minutes` is given.
    length: pieces of a sequence, the two around it included.
    batch: sequences of a step, over all processes.
    at_once: sequences that go through the encoder together, on one device; as many as fit if None. The result of a
        step hardly depends on it.
    rate: the highest learning rate; by the encoder's size if None.
    warmup: share of the run in which the rate rises.
    mask: share of pieces to be guessed.
    whole_words: mask all pieces of a word, or none.
    words: give words that the tokenizer breaks up pieces of their own: so many, those that save most pieces, or those
        of a file, one a line.
    case: teach an encoder whose tokenizer drops capitals to see them.
    dropout: keep the encoder's own dropout on.
    held_out: share of documents that are not learnt from, to measure perplexity on.
    save_minutes: how often the state is kept that `--resume` goes on from.
    """

    steps: int | None = None
    minutes: float | None = None
    epochs: float = 3.0
    length: int = 128
    batch: int = 512
    at_once: int | None = None
    rate: float | None = None
    warmup: float = 0.05
    weight_decay: float = 0.01
    mask: float = 0.15
    whole_words: bool = False
    words: int | Path | None = None
    case: bool = False
    dropout: bool = False
    held_out: float = 0.01
    precision: Precision = "auto"
    seed: int = 1
    save_minutes: float = 10.0

    def __post_init__(self) -> None:
        bounds: tuple[tuple[str, Any, bool, str], ...] = (
            ("steps", self.steps, self.steps is None or self.steps > 0, "at least 1"),
            ("minutes", self.minutes, self.minutes is None or self.minutes > 0, "more than 0"),
            ("epochs", self.epochs, self.epochs > 0, "more than 0"),
            ("length", self.length, self.length >= SHORTEST, f"at least {SHORTEST}"),
            ("batch", self.batch, self.batch > 0, "at least 1"),
            ("at_once", self.at_once, self.at_once is None or self.at_once > 0, "at least 1"),
            ("rate", self.rate, self.rate is None or self.rate > 0, "more than 0"),
            ("warmup", self.warmup, 0 <= self.warmup < 1, "from 0 to less than 1"),
            ("weight_decay", self.weight_decay, self.weight_decay >= 0, "at least 0"),
            ("mask", self.mask, 0 < self.mask < 1, "between 0 and 1"),
            ("words", self.words, _are_words(self.words), "a number from 1 on, or the Path of a file"),
            ("held_out", self.held_out, 0 <= self.held_out < 1, "from 0 to less than 1"),
            ("precision", self.precision, self.precision in get_args(Precision), ", ".join(get_args(Precision))),
            ("seed", self.seed, self.seed >= 0, "at least 0"),
        )
        wrong = [f"{name} {value}, expected {expected}" for name, value, is_right, expected in bounds if not is_right]
        if wrong:
            raise DisconerError("These settings of the adaptation cannot be", got="; ".join(wrong))

    def to_dict(self) -> dict[str, Any]:
        """All settings; of a file its name, which says nothing about the machine."""
        words = self.words.name if isinstance(self.words, Path) else self.words
        return asdict(self) | {"words": words}


def _are_words(words: int | Path | None) -> bool:
    return words is None or isinstance(words, Path) or (isinstance(words, int) and words > 0)


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
