"""A warning if the sentence splitter that the user chose has no effect, as documents already have sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from disconer.core.errors import DisconerWarning
from disconer.core.types import Document


class UnusedSplitter:
    """Warns once, at the first document that has sentences. splitter: what the user chose; None: nothing."""

    def __init__(self, splitter: str | None) -> None:
        self._unsaid = splitter

    def see(self, documents: Iterable[Document]) -> None:
        if self._unsaid and any(document.sentences is not None for document in documents):
            warnings.warn(
                f"the input already has sentences, which are kept: the splitter {self._unsaid!r} is only used for "
                "documents without",
                DisconerWarning,
                stacklevel=2,
            )
            self._unsaid = None

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.see((document,))
            yield document
