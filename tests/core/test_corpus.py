from __future__ import annotations

import pytest

from disconer import Document
from disconer.core.corpus import labels_named, seen_in_training
from disconer.core.errors import DisconerError


def documents(*texts: str) -> list[Document]:
    return [Document(text, text) for text in texts]


def test_texts_of_training_documents_are_counted_by_split() -> None:
    others = {"dev": documents("pain ", "fever"), "test": documents("rash"), "more": documents("no\n pain", "pain")}
    assert list(seen_in_training(documents("pain", "no pain"), others)) == [
        "1 of 2 dev documents have the same text as a training document: F1 on dev is higher than on new texts",
        "2 of 2 more documents have the same text as a training document: F1 on more is higher than on new texts",
    ]


@pytest.mark.parametrize("given", ["", " ", ",", "Drug,,Condition", "Drug, "])
def test_labels_without_a_name_are_refused(given: str) -> None:
    with pytest.raises(DisconerError) as caught:
        labels_named(given)
    assert str(caught.value) == (
        f"--labels: A label has no name. Got {given!r}, expected labels separated by commas, such as ADR,Drug."
    )
