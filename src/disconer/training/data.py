"""The documents of a run: read, segmented, checked for problems, and with dependency heads if the model uses them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from disconer.config import DataConfig, SyntaxConfig
from disconer.core.corpus import seen_in_training, with_labels
from disconer.core.counting import counted
from disconer.core.errors import DisconerError, Where
from disconer.core.progress import progress
from disconer.core.types import Document
from disconer.formats import read
from disconer.text import segmenter
from disconer.text.syntax.attach import Account, untracked
from disconer.text.syntax.spec import make_syntax
from disconer.training.display import Display


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Segmented documents of each split.

    labels: those that are predicted. others: of entities that are only learned from; dev and test have none of these.
    left_out: labels of training entities that are not even learned from. absent: labels to predict that no entity has.
    """

    train: list[Document]
    dev: list[Document]
    test: list[Document] | None
    labels: tuple[str, ...]
    others: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def learned(self) -> tuple[str, ...]:
        return tuple(sorted((*self.labels, *self.others)))

    def words(self) -> set[str]:
        """The distinct words of train and dev."""
        documents = (*self.train, *self.dev)
        return {word for document in documents for word in _words(document)}

    def seen_in_training(self) -> Iterator[str]:
        """Warnings about documents of dev and test that are training documents, too."""
        return seen_in_training(self.train, {"dev": self.dev, "test": self.test or ()})

    @property
    def unseen_labels(self) -> tuple[str, ...]:
        """Labels that only dev or test have: they cannot be found, so they count as missed."""
        return tuple(sorted((_labels(self.dev) | _labels(self.test or [])) - set(self.labels)))


def read_data(config: DataConfig, *, seed: int = 0, learn_others: bool = False) -> TrainingData:
    """Read all splits; unusable data is an error.

    seed: draws the training documents, if only a share is used. learn_others: keep training entities of labels that
        are not to be predicted (`data.labels`).
    """
    train = drawn(_read_split(config, config.train), config.share, seed)
    learned = _labels(train)
    if not learned:
        raise DisconerError(
            "The training data has no entities",
            where=Where(config.train),
            fix="Check the path, and that annotations and texts are in the same place (`disconer stats` shows them).",
        )
    labels = learned if config.labels is None else learned & set(config.labels)
    if not labels:
        raise DisconerError(
            "The training data has no entity of a label that is to be predicted",
            where=Where(config.train),
            got=f"the labels {', '.join(sorted(learned))}",
            expected=f"some of {', '.join(config.labels or ())} (data.labels)",
            fix="Correct data.labels, or set it to null to predict all labels.",
        )
    others = learned - labels
    if not learn_others:
        train = [with_labels(document, labels) for document in train] if others else train
    dev = _read_split(config, config.dev)
    if not labels & _labels(dev):
        raise DisconerError(
            "The dev data has no entity of a label that the model can predict, so epochs cannot be compared on it",
            where=Where(config.dev),
            got=f"the labels {', '.join(sorted(_labels(dev))) or '(none)'}",
            expected=f"some of {', '.join(sorted(labels))}",
            fix="Give annotated dev data of the same kind (`disconer init` splits a folder of data).",
        )
    test = None if config.test is None else _read_split(config, config.test)
    if config.labels is not None:  # the splits to measure on have nothing else
        dev = [with_labels(document, config.labels) for document in dev]
        test = test and [with_labels(document, config.labels) for document in test]
    return TrainingData(
        train,
        dev,
        test,
        tuple(sorted(labels)),
        others=tuple(sorted(others)) if learn_others else (),
        left_out=() if learn_others else tuple(sorted(others)),
        absent=tuple(sorted(set(config.labels or ()) - learned)),
    )


def _read_split(config: DataConfig, path: str) -> list[Document]:
    documents = list(map(segmenter(config.splitter, config.tokenizer), read(path, config.format)))
    if not documents:
        raise DisconerError("There are no documents here", where=Where(path), fix="Check the path and the format.")
    return documents


def drawn(documents: list[Document], share: float, seed: int) -> list[Document]:
    """A share of the documents, at least one, in their order. A larger share has all documents of a smaller one."""
    n_drawn = max(1, round(share * len(documents)))
    order = sorted(range(len(documents)), key=lambda place: _lot(documents[place].id, seed))
    return [documents[place] for place in sorted(order[:n_drawn])]


def _lot(id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {id}".encode("utf-8", "surrogatepass")).digest()


def _words(document: Document) -> Iterator[str]:
    return (document.text[start:end] for sentence in document.sentences or () for start, end in sentence.tokens)


def _labels(documents: list[Document]) -> set[str]:
    return {entity.label for document in documents for entity in document.entities}


def with_heads(data: TrainingData, config: SyntaxConfig, display: Display) -> TrainingData:
    """The documents with dependency heads as configured; it is an error if no sentence gets any."""
    if not config.needed:
        return data
    track = untracked if display.quiet else progress
    syntax = make_syntax(config.parser, missing=config.missing, track=track)
    account = Account()
    train = syntax(data.train, account)
    if not account.with_heads:
        reasons = "; ".join(
            f"{counted(times, 'sentences')}: {reason}" for reason, times in account.without.most_common()
        )
        raise DisconerError(
            "The model has a graph convolution, but no training sentence has dependency heads",
            got=reasons or "no sentences",
            fix="Choose a parser (syntax.parser), or disable the convolution (syntax.gcn: null).",
        )
    dev = syntax(data.dev, account)
    test = None if data.test is None else syntax(data.test, account)
    display.notes(account.lines())
    return replace(data, train=train, dev=dev, test=test)
