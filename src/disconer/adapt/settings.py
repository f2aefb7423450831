"""Settings and result of an adaptation. No torch here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from disconer.core.errors import DisconerError

Precision = Literal["auto", "fp32", "bf16", "fp16"]

SHORTEST = 16  # subwords: below this there is too little context


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptSettings:
    """How an encoder is adapted.

    steps, minutes: when to stop, whichever comes first; the rate falls to zero by then. `minutes` is the time of the
        whole run, from reading the text to the saved encoder.
    epochs: passes over the text, if neither `steps` nor `minutes` is given.
    length: subwords per sequence, including special tokens.
    batch: sequences per optimizer step, over all processes.
    at_once: sequences per forward pass on one device; if None, as many as fit. It hardly affects the result.
    rate: the peak learning rate; if None, by the encoder's hidden size.
    warmup: fraction of the run used for learning rate warm-up.
    mask: masking probability.
    whole_words: whole-word masking: mask all subwords of a word, or none.
    words: words to add to the vocabulary: a number (those that save the most subwords), or a file, one word per line.
    case: feed letter case to an uncased encoder, as token types.
    dropout: keep the encoder's own dropout on.
    held_out: fraction of documents held out to measure perplexity.
    save_minutes: minutes between saved states for `--resume`.
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
            ("words", self.words, _are_words(self.words), "a number from 1, or the Path of a file"),
            ("held_out", self.held_out, 0 <= self.held_out < 1, "from 0 to less than 1"),
            ("precision", self.precision, self.precision in get_args(Precision), ", ".join(get_args(Precision))),
            ("seed", self.seed, self.seed >= 0, "at least 0"),
        )
        wrong = [f"{name} {value}, expected {expected}" for name, value, is_right, expected in bounds if not is_right]
        if wrong:
            raise DisconerError("Invalid settings for the adaptation", got="; ".join(wrong))

    def to_dict(self) -> dict[str, Any]:
        """All settings; of a file only its name, without paths of the machine."""
        words = self.words.name if isinstance(self.words, Path) else self.words
        return asdict(self) | {"words": words}


def _are_words(words: int | Path | None) -> bool:
    return words is None or isinstance(words, Path) or (isinstance(words, int) and words > 0)


@dataclass(frozen=True, slots=True)
class AdaptResult:
    """The adapted encoder's folder, and the metrics of its run.

    subwords: subwords read in training, over all epochs.
    epochs: passes over the text.
    loss: mean over the last steps, in nats per masked subword.
    perplexity_before, perplexity_after: on held-out text; None without such text.
    new_head: the encoder had no masked-language-model head, so `perplexity_before` is meaningless.
    """

    folder: Path
    steps: int
    subwords: int
    epochs: float
    seconds: float
    loss: float
    perplexity_before: float | None
    perplexity_after: float | None
    new_head: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"folder": str(self.folder)}
