"""The files and progress of a run, used to resume it."""

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
from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import replace_file
from disconer.core.places import ADAPTATION_STATE
from disconer.runs.output_folder import Stateful, check_folder, save_state

ABOUT = "adaptation"  # the subfolder with the files of the run

# Settings that may change when a run is resumed.
FREE = ("minutes", "save_minutes", "at_once", "versions", "texts")


@dataclass(slots=True)
class Progress:
    """The progress of a run.

    elapsed: seconds, including those before an interruption.
    at_once: sequences per forward pass; a resumed run keeps it.
    before: held-out perplexity before the first step.
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
    """The files of a run, next to the encoder saved in `path`.

    run.json: settings, versions, what was read. metrics.jsonl, curve.html: the loss. result.json: the final metrics.
    words.txt: words added to the vocabulary.
    tokens/, state.pt: the tokenised text, and network, optimizer and progress; deleted at the end.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.about = path, path / ABOUT
        self.card = path / "README.md"
        self.facts, self.curve = self.about / "run.json", self.about / "curve.html"
        self.tokens, self._words = self.about / "tokens", self.about / "words.txt"
        self._state, self._metrics = path / ADAPTATION_STATE, self.about / "metrics.jsonl"
        self._result = self.about / "result.json"

    @property
    def can_resume(self) -> bool:
        return self._state.is_file()

    @property
    def _has_begun(self) -> bool:
        """Whether there is a run here that must not be overwritten."""
        return self.can_resume or self._result.is_file() or has_cache(self.tokens)

    def check(self, *, resume: bool) -> None:
        """Stop before any work if the folder holds something else."""
        check_folder(
            self.path,
            self.facts,
            product="the encoder",
            run="an adaptation",
            has_begun=self._has_begun,
            resume=resume,
        )

    def write_facts(self, facts: Mapping[str, Any]) -> None:
        """Create the folder; run.json is written first and marks it as ours."""
        self.about.mkdir(parents=True, exist_ok=True)
        self._words.unlink(missing_ok=True)  # left by a run that failed
        replace_file(self.facts, json.dumps(facts, indent=2).encode())

    def write_words(self, words: Sequence[str]) -> None:
        """Store the words added to the vocabulary."""
        replace_file(self._words, "".join(f"{word}\n" for word in words).encode())

    def read_words(self) -> list[str]:
        return self._words.read_text("utf-8").split()

    def check_facts(self, facts: Mapping[str, Any]) -> None:
        """Refuse to resume a run whose settings or input changed."""
        then = json.loads(self.facts.read_text("utf-8"))
        changed = [key for key in facts if key not in FREE and then.get(key) != facts[key]]
        if changed:
            raise DisconerError(
                "This run was started with other settings or input",
                where=Where(str(self.path)),
                got="; ".join(f"{key} {facts[key]}, not {then.get(key)}" for key in changed),
                fix="Resume with the original ones, or start again in another folder.",
            )

    def save(self, network: torch.nn.Module, progress: Progress, parts: Mapping[str, Stateful]) -> None:
        """Save the progress."""
        self.save_metrics(progress)
        state = {"network": network.state_dict(), "progress": asdict(progress)}
        save_state(state | {name: part.state_dict() for name, part in parts.items()}, self._state)

    def save_metrics(self, progress: Progress) -> None:
        replace_file(self._metrics, "".join(f"{json.dumps(record)}\n" for record in progress.history).encode())

    def load(self, network: torch.nn.Module, parts: Mapping[str, Stateful]) -> Progress:
        """Restore the last saved state."""
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
                got=first_line(error),
                fix="Start again in another folder.",
            ) from error

    def finish(self, result: AdaptResult) -> None:
        """Save the metrics, and delete what only an unfinished run needs."""
        figures = {name: value for name, value in result.to_dict().items() if name != "folder"}
        replace_file(self._result, json.dumps(figures, indent=2).encode())
        self._state.unlink(missing_ok=True)
        shutil.rmtree(self.tokens, ignore_errors=True)

    def result(self) -> AdaptResult | None:
        """The metrics of a finished run."""
        if not self._result.is_file():
            return None
        return AdaptResult(folder=self.path, **json.loads(self._result.read_text("utf-8")))
