"""Pairs of gold and predicted documents, matched by id, in any order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from disconer.core.errors import DisconerError, Where, excerpt
from disconer.core.types import Document

Pair = tuple[Document, Document]  # gold, predicted

IDS_SHOWN = 5  # ids listed in an error
CONTEXT = 20  # characters shown from where two texts differ


def paired(
    gold: Iterable[Document], predicted: Iterable[Document], *, missing_as_empty: bool = False
) -> Iterator[Pair]:
    """Each gold document with its prediction.

    Both sides are read in parallel and a document is held only until its partner arrives, so two streams in the same
    order need the memory of one document.

    missing_as_empty: a gold document without a prediction has no predicted entities; otherwise that is an error.
    """
    waiting_gold = _Waiting("gold")
    waiting_predicted = _Waiting("predicted")
    for one_gold, one_predicted in zip_longest(gold, predicted):
        if one_gold is not None:
            waiting_gold.put(one_gold)
        if one_predicted is not None:
            waiting_predicted.put(one_predicted)
        for document in (one_gold, one_predicted):
            if document is not None and document.id in waiting_gold and document.id in waiting_predicted:
                pair = waiting_gold.take(document.id), waiting_predicted.take(document.id)
                check_same_text(*pair)
                yield pair
    _check_none_extra(waiting_predicted)
    if not missing_as_empty:
        _check_none_missing(waiting_gold)
    for document in waiting_gold.documents.values():
        yield document, document.replace(entities=())


class _Waiting:
    """Documents of one side whose partners have not arrived yet."""

    def __init__(self, side: str) -> None:
        self.side = side
        self.documents: dict[str, Document] = {}
        self._seen: set[str] = set()

    def __contains__(self, id: str) -> bool:
        return id in self.documents

    def put(self, document: Document) -> None:
        if document.id in self._seen:
            raise DisconerError(
                f"Two {self.side} documents have the same id",
                where=Where(document=document.id),
                fix="Rename one of them.",
            )
        self._seen.add(document.id)
        self.documents[document.id] = document

    def take(self, id: str) -> Document:
        return self.documents.pop(id)

    def __str__(self) -> str:
        shown = ", ".join(repr(id) for id in list(self.documents)[:IDS_SHOWN])
        hidden = len(self.documents) - IDS_SHOWN
        return f"{shown} and {hidden} more" if hidden > 0 else shown


def check_same_text(
    gold: Document, predicted: Document, what: str = "The prediction and the gold document have different texts"
) -> None:
    """Stop if two versions of a document have different texts, and show the first difference."""
    if gold.text == predicted.text:
        return
    offset = next(
        (place for place, (one, other) in enumerate(zip(gold.text, predicted.text, strict=False)) if one != other),
        min(len(gold.text), len(predicted.text)),
    )
    raise DisconerError(
        what,
        where=Where(document=gold.id, offset=offset),
        got=excerpt(predicted.text[offset : offset + CONTEXT]),
        expected=excerpt(gold.text[offset : offset + CONTEXT]),
        fix="Both must be of exactly the same text; a lost line break or BOM shifts every offset after it.",
    )


def _check_none_missing(gold: _Waiting) -> None:
    if gold.documents:
        raise DisconerError(
            f"There is no prediction for {len(gold.documents)} of the gold documents: {gold}",
            fix="Predict them, too; `disconer evaluate --missing-as-empty` treats them as empty.",
        )


def _check_none_extra(predicted: _Waiting) -> None:
    if predicted.documents:
        raise DisconerError(
            f"There is no gold document for {len(predicted.documents)} of the predictions: {predicted}",
            fix="Check that both are of the same split and that their ids agree.",
        )
