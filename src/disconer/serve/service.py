"""The service without HTTP: models, limits, figures, and whether it is about to end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from disconer.core.types import Document
from disconer.serve.batching import Busy, Closed, Failed
from disconer.serve.limits import Limits
from disconer.serve.metrics import Metrics
from disconer.serve.models import Annotator, ServedModel, served
from disconer.serve.problems import Problem, busy, not_valid, too_large, unavailable

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
