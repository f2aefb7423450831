"""The service without HTTP: models, each behind a queue, limits, metrics, and the shutdown state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from disconer.core.errors import DisconerError
from disconer.core.places import RUN_FOLDERS
from disconer.core.types import Document
from disconer.serve.batching import Batcher, Busy, Closed, Failed
from disconer.serve.middleware import Metrics
from disconer.serve.problems import Problem, busy, not_valid, too_large, unavailable
from disconer.serve.settings import Limits


class Annotator(Protocol):
    """The part of `Recognizer` that the service uses."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def runtime(self) -> str: ...

    def annotate(self, documents: Iterable[Document], *, threshold: float | None = None) -> Iterable[Document]: ...


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A named model."""

    name: str
    labels: tuple[str, ...]
    runtime: str
    batcher: Batcher


def served(recognizers: Mapping[str, Annotator], limits: Limits, metrics: Metrics) -> dict[str, ServedModel]:
    """Each recogniser behind its queue; the first is the default."""
    models = {}
    for name, recognizer in recognizers.items():
        batcher = Batcher(recognizer.annotate, limits, watch=metrics.batch_watcher(name))
        metrics.watch_queue(name, lambda batcher=batcher: batcher.n_waiting)  # type: ignore[misc]
        models[name] = ServedModel(name, tuple(recognizer.labels), recognizer.runtime, batcher)
    return models


def model_names(given: Iterable[str]) -> dict[str, str]:
    """The name and path of each model: `NAME=PATH`, or by default the last part of the path.

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
                f"Two models have the same name {name!r}",
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


CLIENT_GONE = 499  # never sent, but counted


class Service:
    """The state shared by all requests."""

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
            raise unavailable("ending", "This service is shutting down. Try again soon.")
        dead = [model.name for model in self.models.values() if not model.batcher.is_working]
        if dead:
            raise unavailable(
                "not-ready", f"These models have stopped working: {', '.join(dead)}. Restart the service."
            )

    def model_named(self, name: str | None) -> ServedModel:
        if name is None:
            return self.default
        if name not in self.models:
            raise not_valid(f"Unknown model {name!r}. Available: {', '.join(self.models)}.")
        return self.models[name]

    def check_labels(self, labels: Collection[str] | None, model: ServedModel) -> None:
        """A label that the model does not have is an error: it would never be found."""
        unknown = sorted(set(labels or ()) - set(model.labels))
        if unknown:
            known = ", ".join(model.labels)
            raise not_valid(f"The model {model.name!r} has no label {unknown[0]!r}. Available: {known}.")

    def check_sizes(self, texts: Sequence[str]) -> None:
        if len(texts) > self.limits.texts:
            raise too_large("This request", got=len(texts), limit=self.limits.texts, unit="texts")
        for number, text in enumerate(texts):
            if len(text) > self.limits.text_characters:
                raise too_large(f"texts[{number}]", got=len(text), limit=self.limits.text_characters, unit="characters")

    def check_drawn(self, entities: Iterable[Sequence[Sequence[int]]], text: str) -> None:
        """entities: the fragments of each. A few bytes of offsets may make the answer repeat the whole text."""
        reaches = ((min(start for start, _ in own), max(end for _, end in own)) for own in entities)
        n_characters = sum(max(1, min(end, len(text)) - start) for start, end in reaches)
        if n_characters > self.limits.drawn_characters:
            limit = self.limits.drawn_characters
            raise too_large("The total length of these entities", got=n_characters, limit=limit, unit="characters")

    def _affordable(self, documents: list[Document]) -> list[Document]:
        """The documents, unless an answer with all their entities would take more memory than one request may."""
        n_entities = sum(len(document.entities) for document in documents)
        if n_entities > self.limits.entities:
            raise too_large("The answer", got=n_entities, limit=self.limits.entities, unit="entities")
        return documents

    async def annotate(
        self, model: ServedModel, texts: Sequence[str], gone: Awaitable[Any], *, near: bool = False
    ) -> list[Document]:
        """The documents of these texts, unless the client disconnects or the request times out.

        gone: becomes true when the client disconnects. near: with near misses; see `Recognizer`, threshold.
        """
        documents = [Document(f"text-{number}", text) for number, text in enumerate(texts, 1)]
        work = asyncio.ensure_future(model.batcher(documents, near=near))
        leaving = asyncio.ensure_future(gone)
        try:
            await asyncio.wait({work, leaving}, timeout=self.limits.answer_seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return self._affordable(work.result())
            if leaving.done():
                raise Problem(CLIENT_GONE, "gone", "The client disconnected.")
            raise unavailable(
                "too-late", f"The request timed out after {self.limits.answer_seconds:g} s. Send less text."
            )
        except Busy as error:
            raise busy(error.retry_after) from None
        except Closed:
            raise unavailable("ending", "This service is shutting down. Try again soon.") from None
        except Failed as error:
            if error.out_of_memory:
                raise Problem(
                    HTTPStatus.INSUFFICIENT_STORAGE,
                    "out-of-memory",
                    "This service does not have enough memory for one of these texts. Split it.",
                ) from None
            raise Problem(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "model-failed",
                "The model failed on one of these texts. Send them one by one to find out which.",
            ) from None
        finally:
            work.cancel()
            leaving.cancel()
