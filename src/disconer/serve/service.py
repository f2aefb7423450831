"""The service without HTTP: models, each behind a queue, limits, figures, and whether it is about to end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from disconer.core.errors import DisconerError
from disconer.core.files import RUN_FOLDERS
from disconer.core.types import Document
from disconer.serve.batching import Batcher, Busy, Closed, Failed
from disconer.serve.limits import Limits
from disconer.serve.problems import Problem, busy, not_valid, too_large, unavailable
from disconer.serve.watch import Metrics


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


CLIENT_GONE = 499  # nobody will read this status, but it is counted


class Service:
    """All that requests share."""

    def __init__(self, recognizers: Mapping[str, Annotator], limits: Limits) -> None:
        self.limits = limits
        self.metrics = Metrics()
        self.models = served(recognizers, limits, self.metrics)
        self.draining = False

    @property
    def default(self) -> ServedModel:
        return next(iter(self.models.values()))

    @property
    def labels(self) -> list[str]:
        """Of all models."""
        return sorted({label for model in self.models.values() for label in model.labels})

    def start(self) -> None:
        for model in self.models.values():
            model.batcher.start()

    async def close(self) -> None:
        self.draining = True
        for model in self.models.values():
            await model.batcher.close()

    def drain(self) -> None:
        self.draining = True

    def check_ready(self) -> None:
        if self.draining:
            raise unavailable("ending", "This service is about to end. Try again soon.")
        dead = [model.name for model in self.models.values() if not model.batcher.is_working]
        if dead:
            raise unavailable("not-ready", f"These models do not work: {', '.join(dead)}. Restart the service.")

    def model_named(self, name: str | None) -> ServedModel:
        if name is None:
            return self.default
        if name not in self.models:
            raise not_valid(f"There is no model {name!r} here. There are: {', '.join(self.models)}.")
        return self.models[name]

    def check_labels(self, labels: Collection[str] | None) -> None:
        """A label that no model here knows is a slip."""
        unknown = sorted(set(labels or ()) - set(self.labels))
        if unknown:
            raise not_valid(f"There is no label {unknown[0]!r} here. There are: {', '.join(self.labels)}.")

    def check_sizes(self, texts: Sequence[str]) -> None:
        if len(texts) > self.limits.texts:
            raise too_large("This request", got=len(texts), limit=self.limits.texts, unit="texts")
        for number, text in enumerate(texts):
            if len(text) > self.limits.text_characters:
                raise too_large(f"texts[{number}]", got=len(text), limit=self.limits.text_characters, unit="characters")

    async def annotate(self, model: ServedModel, texts: Sequence[str], gone: Awaitable[Any]) -> list[Document]:
        """The documents of these texts, unless the client goes away or it takes too long.

        gone: comes true when the client has gone away.
        """
        documents = [Document(f"text-{number}", text) for number, text in enumerate(texts, 1)]
        work = asyncio.ensure_future(model.batcher(documents))
        leaving = asyncio.ensure_future(gone)
        try:
            await asyncio.wait({work, leaving}, timeout=self.limits.answer_seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            if leaving.done():
                raise Problem(CLIENT_GONE, "gone", "The client went away.")
            raise unavailable("too-late", f"There was no answer within {self.limits.answer_seconds:g} s. Send less.")
        except Busy as error:
            raise busy(error.retry_after) from None
        except Closed:
            raise unavailable("ending", "This service is about to end. Try again soon.") from None
        except Failed:
            raise Problem(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "model-failed",
                "The model failed on one of these texts. Send them one by one to find out which.",
            ) from None
        finally:
            work.cancel()
            leaving.cancel()
