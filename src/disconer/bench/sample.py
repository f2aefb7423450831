"""The sentences that speed is measured on: real ones, as a model reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from disconer.core.errors import DisconerError
from disconer.core.types import Document, Token
from disconer.nn.examples import Windower
from disconer.nn.windows import Window


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents to measure on.

    documents: as the recogniser gets them: bare texts, or with sentences that are taken as given.
    segmented: the same with sentences, and with the entities of the data.
    windows: what the network reads of them.
    """

    documents: list[Document]
    segmented: list[Document]
    windows: list[Window]
    given: bool

    @property
    def n_sentences(self) -> int:
        return sum(window.start == 0 for window in self.windows)  # a long sentence has further windows

    def counts(self) -> dict[str, int]:
        return {
            "documents": len(self.documents),
            "sentences": self.n_sentences,
            "words": sum(map(len, self.windows)),
            "pieces": sum(len(window.pieces.ids) for window in self.windows),
        }

    def single_sentences(self, most: int) -> list[Document]:
        """Sentences from all over the sample, each as a document of its own."""
        sentences = list(self._each_sentence())
        return sentences[:: max(1, -(-len(sentences) // most))]

    def _each_sentence(self) -> Iterator[Document]:
        for document in self.segmented:
            for number, sentence in enumerate(document.sentences or ()):
                if not sentence.tokens:
                    continue
                start = sentence.start
                tokens = tuple(Token(a - start, b - start) for a, b in sentence.tokens)
                moved = replace(sentence, start=0, end=sentence.end - start, tokens=tokens)
                text = document.text[start : sentence.end]
                yield Document(f"{document.id}-{number}", text, sentences=(moved,) if self.given else None)


def take_sample(documents: Iterable[Document], windower: Windower, *, limit: int | None, given: bool) -> Sample:
    """Documents from the first on, until there are `limit` sentences."""
    taken, segmented = [], []
    windows: list[Window] = []
    n_sentences = 0
    for document in documents:
        if not given:
            document = document.replace(sentences=None)
        elif document.sentences is None:
            raise DisconerError(
                f"The document {document.id!r} has no sentences that could be taken as given",
                fix="Leave out --given: then they are made from the text.",
            )
        own = windower.segment(document)
        of_sentences = [found for found in windower.windows(own) if found]
        taken.append(document.replace(entities=()))
        segmented.append(own)
        windows += [window for found in of_sentences for window in found]
        n_sentences += len(of_sentences)
        if limit is not None and n_sentences >= limit:
            break
    if not windows:
        raise DisconerError("There are no sentences to measure on", fix="Give text of some length with --data.")
    return Sample(taken, segmented, windows, given)
