"""The recogniser that a prediction asks for, loaded at once or with the first document: a run with nothing to do loads
no model. No torch here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.predict.settings import Settings

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer


def load_recognizer(settings: Settings) -> Recognizer:
    """The recogniser for a prediction. It keeps its parses."""
    from disconer.predict.recognizer import Recognizer  # when it is needed: it may import torch

    return Recognizer.from_pretrained(
        settings.model,
        runtime=settings.runtime,
        device=settings.device,
        precision=settings.precision,
        parser=settings.parser,
        keep_parses=True,
        labels=None if settings.labels is None else [label.strip() for label in settings.labels.split(",")],
        threshold=settings.threshold,
        splitter=settings.splitter,
    )


class LazyRecognizer:
    """The recogniser for a prediction, loaded when it is needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded: Recognizer | None = None

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        remaining = iter(documents)
        for first in remaining:
            yield from self._recognizer().annotate(chain([first], remaining))

    def account(self, ledger: Ledger) -> None:
        """See `Recognizer.account`."""
        if self._loaded:
            self._loaded.account(ledger)

    def _recognizer(self) -> Recognizer:
        if self._loaded is None:
            self._loaded = load_recognizer(self._settings)
        return self._loaded
