"""What a run keeps while it goes on, to be resumed, and how far it has come."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from disconer.adapt.cache import has_cache
from disconer.adapt.settings import AdaptResult
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.runs.state import Stateful, check_folder, save_state

ABOUT = "adaptation"  # the folder within the encoder's that tells of the run

# What may change when a run is resumed: time is never spent alike, and its text is tokenised already.
FREE = ("minutes", "save_minutes", "at_once", "versions", "texts")


@dataclass(slots=True)
class Progress:
    """How far a run has come.

    elapsed: seconds, those before an interruption included.
    at_once: sequences that go through the encoder together; a resumed run keeps to it.
    before: perplexity of the text held out before the first step.
    history: a record every few steps: step, loss, rate, seconds.
    """

    step: int = 0
    elapsed: float = 0.0
    at_once: int = 0
    before: float | None = None
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def loss(self) -> float:
        return float(self.history[-1]["loss"]) if self.history else float("nan")


class AdaptFolder:
    """The files of a run, beside the encoder that it leaves in `path`.

    run.json: settings, versions, what was read. metrics.jsonl, curve.html: the loss. result.json: figures, at the end.
    words.txt: those that got pieces of their own.
    tokens/, state.pt: the tokenised text, and network, optimizer and progress; deleted when all is done.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.about = path, path / ABOUT
        self.card = path / "README.md"
        self.facts, self.curve = self.about / "run.json", self.about / "curve.html"
        self.tokens, self._words = self.about / "tokens", self.about / "words.txt"
        self._state, self._metrics = self.about / "state.pt", self.about / "metrics.jsonl"
        self._result = self.about / "result.json"

    @property
    def can_resume(self) -> bool:
        return self._state.is_file()

    @property
    def _has_begun(self) -> bool:
        """Whether there is anything worth keeping here."""
        return self.can_resume or self._result.is_file() or has_cache(self.tokens)

    def check(self, *, resume: bool) -> None:
        """Stop before any work if something stands here that must not be touched."""
        check_folder(
            self.path,
            self.facts,
            product="the encoder",
            run="An adaptation",
            has_begun=self._has_begun,
            resume=resume,
        )

    def write_facts(self, facts: Mapping[str, Any]) -> None:
        """Make the folder: what is written first tells whose it is."""
        self.about.mkdir(parents=True, exist_ok=True)
        self._words.unlink(missing_ok=True)  # of a run that came to nothing
        replace_file(self.facts, json.dumps(facts, indent=2).encode())

    def write_words(self, words: Sequence[str]) -> None:
        """Keep the words that get pieces of their own."""
        replace_file(self._words, "".join(f"{word}\n" for word in words).encode())

    def read_words(self) -> list[str]:
        return self._words.read_text("utf-8").split()

    def check_facts(self, facts: Mapping[str, Any]) -> None:
        """Refuse to resume what would not continue to the same result."""
        then = json.loads(self.facts.read_text("utf-8"))
        changed = [key for key in facts if key not in FREE and then.get(key) != facts[key]]
        if changed:
            raise DisconerError(
                "This run was started with something else than it is to be resumed with",
                where=Where(str(self.path)),
                got="; ".join(f"{key} {facts[key]}, not {then.get(key)}" for key in changed),
                fix="Resume with what it was started with, or start anew in another folder.",
            )

    def save(self, network: torch.nn.Module, progress: Progress, parts: Mapping[str, Stateful]) -> None:
        """Keep how far the run has come."""
        self.save_metrics(progress)
        state = {"network": network.state_dict(), "progress": asdict(progress)}
        save_state(state | {name: part.state_dict() for name, part in parts.items()}, self._state)

    def save_metrics(self, progress: Progress) -> None:
        replace_file(self._metrics, "".join(f"{json.dumps(record)}\n" for record in progress.history).encode())

    def load(self, network: torch.nn.Module, parts: Mapping[str, Stateful]) -> Progress:
        """Put a run back to where it was kept last."""
        try:
            state = torch.load(self._state, map_location="cpu", weights_only=True)
            network.load_state_dict(state["network"])
            for name, part in parts.items():
                part.load_state_dict(state[name])
            return Progress(**state["progress"])
        except Exception as error:
            raise DisconerError(
                "This run cannot be resumed: its state is damaged or was written by another version of disconer",
                where=Where(str(self._state)),
                got=str(error).split("\n")[0],
                fix="Start anew in another folder.",
            ) from error

    def finish(self, result: AdaptResult) -> None:
        """Keep the figures, and nothing that only an unfinished run needs."""
        figures = {name: value for name, value in result.to_dict().items() if name != "folder"}
        replace_file(self._result, json.dumps(figures, indent=2).encode())
        self._state.unlink(missing_ok=True)
        shutil.rmtree(self.tokens, ignore_errors=True)

    def result(self) -> AdaptResult | None:
        """The figures of a run that is done."""
        if not self._result.is_file():
            return None
        return AdaptResult(folder=self.path, **json.loads(self._result.read_text("utf-8")))
