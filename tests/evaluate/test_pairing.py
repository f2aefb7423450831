from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.core.errors import DisconerError
from disconer.core.types import Document
from disconer.evaluate import paired


def documents(ids: str) -> list[Document]:
    return [Document(id, f"text of {id}") for id in ids]


@given(gold=st.permutations("abcdef"), predicted=st.permutations("abcdef"))
def test_any_order_pairs_each_once(gold: list[str], predicted: list[str]) -> None:
    pairs = list(paired(documents("".join(gold)), documents("".join(predicted))))
    assert all(one.id == other.id for one, other in pairs)
    assert sorted(one.id for one, _ in pairs) == list("abcdef")


def test_same_order_streams() -> None:
    read = []

    def stream(side: str) -> Iterator[Document]:
        for document in documents("abc"):
            read.append(side + document.id)
            yield document

    for number, _ in enumerate(paired(stream("g"), stream("p")), 1):
        assert len(read) == 2 * number
    assert len(read) == 6


def test_missing_predictions_are_named_or_empty() -> None:
    with pytest.raises(DisconerError, match=r"no prediction for 6 of the gold documents: 'b', .*'f' and 1 more"):
        list(paired(documents("abcdefg"), documents("a")))
    pairs = list(paired(documents("abc"), documents("b"), missing_as_empty=True))
    assert [one.id for one, _ in pairs] == ["b", "a", "c"]
    assert all(one.text == other.text and other.entities == () for one, other in pairs)


@pytest.mark.parametrize("missing_as_empty", [True, False])
def test_predictions_without_gold_are_named(missing_as_empty: bool) -> None:
    with pytest.raises(DisconerError, match="no gold document for 1 of the predictions: 'x'"):
        list(paired(documents("ab"), documents("xb"), missing_as_empty=missing_as_empty))


@pytest.mark.parametrize(("gold", "predicted"), [("aba", "ab"), ("ab", "aba")])
def test_repeated_ids_are_named(gold: str, predicted: str) -> None:
    with pytest.raises(DisconerError, match=r"document 'a': Two (gold|predicted) documents have the same id"):
        list(paired(documents(gold), documents(predicted)))


@pytest.mark.parametrize(("text", "offset"), [("text of b", 8), ("text of", 7), ("text of a!", 9)])
def test_differing_text_is_shown_where_it_starts(text: str, offset: int) -> None:
    with pytest.raises(
        DisconerError, match=f"document 'a', offset {offset}: The prediction and the gold document have different texts"
    ):
        list(paired(documents("a"), [Document("a", text)]))
