"""Saving the ends of epochs, beside the training where a GPU does the work."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch

from disconer.runs.state import Stateful
from disconer.store.checkpoint import Model
from disconer.training.state import EpochEnd, Progress, RunFolder


class EpochWriter:
    """Writes the ends of epochs to the folder of a run. As a context, it leaves none half written, whatever ends it.

    aside: whether the next epoch may begin meanwhile. What is written is then a copy in memory, and what was not yet
        written when a run is killed is learnt again when it is resumed.
    """

    def __init__(self, folder: RunFolder, *, aside: bool) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="saving") if aside else None
        self._writing: Future[None] | None = None

    def save(self, model: Model, progress: Progress, parts: dict[str, Stateful]) -> None:
        states = {name: part.state_dict() for name, part in parts.items()}
        end = EpochEnd(model.network.state_dict(), [*progress.history], progress.is_best, states)
        if self._pool is None:
            self._folder.save(model, end)
            return
        self.finish()
        copy = EpochEnd(copied(end.weights), end.history, end.is_best, copied(states))
        self._writing = self._pool.submit(self._folder.save, model, copy)

    def __enter__(self) -> EpochWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def finish(self) -> None:
        """Wait until everything is written; errors are raised here."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()


def copied(state: Any) -> Any:
    """A state with copies of its tensors on the CPU."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {name: copied(value) for name, value in state.items()}
    return [copied(value) for value in state] if isinstance(state, list) else state
