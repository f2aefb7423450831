"""The models that a service holds, each behind a queue of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from disconer.core.errors import DisconerError
from disconer.core.folders import RUN_FOLDERS
from disconer.core.types import Document
from disconer.serve.batching import Batcher
from disconer.serve.limits import Limits
from disconer.serve.metrics import Metrics


class Annotator(Protocol):
    """What the service needs of a `Recognizer`."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    def annotate(self, documents: Iterable[Document]) -> Iterable[Document]: ...


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model by the name that requests give it."""

    name: str
    labels: tuple[str, ...]
    batcher: Batcher


def served(recognizers: Mapping[str, Annotator], limits: Limits, metrics: Metrics) -> dict[str, ServedModel]:
    """Each recogniser behind its queue; the first is the one for requests that name none."""
    models = {}
    for name, recognizer in recognizers.items():
        batcher = Batcher(recognizer.annotate, limits, watch=metrics.batch_watcher(name))
        metrics.watch_queue(name, lambda batcher=batcher: batcher.n_waiting)  # type: ignore[misc]
        models[name] = ServedModel(name, tuple(recognizer.labels), batcher)
    return models


def model_names(given: Iterable[str]) -> dict[str, str]:
    """What to call each model, and where it is: `NAME=PATH` says so itself, of others it is the last part of the path.

    >>> model_names(["runs/chia/best", "en=runs/phee"])
    {'chia': 'runs/chia/best', 'en': 'runs/phee'}
    """
    named: dict[str, str] = {}
    for one in given:
        name, separator, where = one.partition("=")
        if not separator or Path(one).exists():
            name, where = _short_name(one), one
        if name in named:
            raise DisconerError(
                f"Two models would be called {name!r}",
                got=f"{named[name]} and {where}",
                fix="Name them: --model NAME=PATH.",
            )
        named[name] = where
    return named


def _short_name(where: str) -> str:
    parts = [part for part in Path(where).parts if part not in ("/", ".", "..")]
    if len(parts) > 1 and parts[-1] in RUN_FOLDERS:
        parts.pop()
    return parts[-1] if parts else "model"
