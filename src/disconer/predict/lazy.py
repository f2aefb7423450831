"""A recogniser that is loaded with the first document: a run with nothing to do loads no model. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.predict.settings import Settings
from disconer.predict.shared.messages import Address

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer


class LazyRecognizer:
    """The recogniser for a prediction, loaded when it is needed. It keeps its parses.

    network: where another process has the network; None: it is loaded, too.
    """

    def __init__(self, settings: Settings, network: Address | None = None) -> None:
        self._settings, self._network = settings, network
        self._loaded: Recognizer | None = None

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        remaining = iter(documents)
        for first in remaining:
            yield from self._recognizer().annotate(chain([first], remaining))

    def annotate_blocks(self, blocks: Iterable[list[Document]]) -> Iterator[Document]:
        """See `Recognizer.annotate_blocks`."""
        remaining = iter(blocks)
        for first in remaining:
            yield from self._recognizer().annotate_blocks(chain([first], remaining))

    def account(self, ledger: Ledger) -> None:
        """See `Recognizer.account`."""
        if self._loaded:
            self._loaded.account(ledger)

    def _recognizer(self) -> Recognizer:
        if self._loaded is None:
            from disconer.predict.recognizer import load_recognizer  # when it is needed: it may import torch

            self._loaded = load_recognizer(self._settings, self._network)
        return self._loaded
