"""Progress of an adaptation: a live line on a terminal, and a log line every few percent."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from disconer.adapt.cache import TokenCache
from disconer.adapt.settings import AdaptResult
from disconer.adapt.state import Progress
from disconer.adapt.vocabulary import Choice
from disconer.core.progress import LiveLines, duration

PAUSE = 0.5  # seconds between updates
LINES = 20  # log lines per run, at most, evenly spaced


class Display(LiveLines):
    """Shows an adaptation on stderr."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._drawn = 0.0
        self._lines = 0
        self._step_size = 0
        self._start = (0, 0.0, 0.0)  # step, fraction of the budget and time at which this process started

    def counting(self, n_words: int) -> None:
        """Progress of counting words."""
        self._passing(f"counting: {n_words / 1e6:,.0f} M words")

    def words(self, choice: Choice) -> None:
        self._clear()
        saved = "" if choice.before is None else f"; subwords per word: {choice.before:.2f} → {choice.after:.2f}"
        self.say(f"words: {len(choice.words):,} added to the vocabulary{saved}")

    def reading(self, n_subwords: int) -> None:
        """Progress of tokenising."""
        self._passing(f"tokenising: {n_subwords / 1e6:,.1f} M subwords")

    def text(self, cache: TokenCache, seconds: float) -> None:
        self._clear()
        self.say(
            f"text: {cache.train.n_documents:,} documents, {len(cache.train):,} subwords; held out: "
            f"{cache.held_out.n_documents:,} documents, {len(cache.held_out):,} subwords; {duration(seconds)}"
        )

    def note(self, line: str) -> None:
        self.say(f"note: {line}")

    def before(self, perplexity: float | None, *, new_head: bool) -> None:
        if perplexity is None:
            self.say("note: too little held-out text to measure perplexity")
        else:
            note = " (the masked-language-model head is new)" if new_head else ""
            self.say(f"held-out perplexity, before: {perplexity:,.2f}{note}")

    @contextmanager
    def running(self, progress: Progress, *, step_size: int, done: float) -> Iterator[None]:
        """Show progress while steps run. step_size: subwords per step. done: the fraction of the budget used so far."""
        self._step_size, self._start = step_size, (progress.step, done, time.monotonic())
        self._lines = int(LINES * done)
        if progress.step:
            self.say(f"resumed after step {progress.step:,}")
        with self.bar(1.0, done):
            yield

    def step(self, progress: Progress, done: float) -> None:
        now = time.monotonic()
        if self.is_live and now - self._drawn >= PAUSE:
            self._drawn = now
            self.draw(done, self._line(progress, done))

    def record(self, progress: Progress, done: float) -> None:
        """Log a record if enough of the budget was used since the last line."""
        if LINES * done >= self._lines + 1:
            self._lines = int(LINES * done)
            self.say(self._line(progress, done))

    def result(self, result: AdaptResult) -> None:
        if result.perplexity_after is not None:
            self.say(f"held-out perplexity, after: {result.perplexity_after:,.2f}")
        self.say(
            f"{result.steps:,} steps, {result.subwords / 1e6:,.1f} M subwords, {result.epochs:.2f} epochs, in "
            f"{duration(result.seconds)}; the encoder is in {result.folder}"
        )

    def _line(self, progress: Progress, done: float) -> str:
        step, done_before, started = self._start
        seconds = max(1e-9, time.monotonic() - started)
        speed = (progress.step - step) * self._step_size / seconds
        left = duration(max(0.0, seconds * (1 - done) / max(1e-9, done - done_before)))
        loss = f"{progress.loss:.3f}" if progress.history else "–"
        return (
            f"{min(1.0, done):4.0%}  step {progress.step:>7,}  loss {loss}  {speed:>9,.0f} subwords/s  {left:>7} left"
        )

    def _passing(self, line: str) -> None:
        """On terminals, a line that the next one replaces."""
        if sys.stderr.isatty() and not self.quiet:
            print(f"\r{line}", end="", file=sys.stderr, flush=True)

    def _clear(self) -> None:
        self._passing("\033[K")
