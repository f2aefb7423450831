"""The recogniser for a prediction's settings, loaded at once or with the first document: a run with nothing to do
loads no model. No torch here.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from disconer.core.corpus import labels_named
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.predict.settings import Settings
from disconer.store.names import find_model

if TYPE_CHECKING:
    from disconer.nn.runtime import AnyModel
    from disconer.predict.recognizer import Recognizer
    from disconer.predict.shared.messages import Address


def load_recognizer(settings: Settings, network: Address | None = None) -> Recognizer:
    """The recogniser for a prediction. It keeps its parses. network: where another process has it; None: load it."""
    from disconer.predict.recognizer import Recognizer  # when it is needed: it may import torch

    return Recognizer(
        _model(settings, network),
        device=settings.device,
        precision=settings.precision,
        parser=settings.parser,
        keep_parses=True,
        labels=None if settings.labels is None else labels_named(settings.labels),
        threshold=settings.threshold,
        splitter=settings.splitter,
    )


def _model(settings: Settings, network: Address | None) -> AnyModel:
    folder = find_model(settings.model)
    if network is not None:
        from disconer.predict.shared.client import load_shared

        return load_shared(folder, network, near=settings.threshold is not None)
    from disconer.predict.loading import load

    return load(folder, runtime=settings.runtime, device=settings.device, precision=settings.precision)


class LazyRecognizer:
    """The recogniser for a prediction, loaded when it is needed.

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
            self._loaded = load_recognizer(self._settings, self._network)
            collect_rarely()
        return self._loaded


def collect_rarely() -> None:
    """Let Python's cyclic garbage collector run less often. For processes that do nothing but predict.

    Every word is an object, and hardly any is ever part of a cycle: by default, a sixth of the time goes into checking.
    """
    gc.set_threshold(50_000, 20, 50)
