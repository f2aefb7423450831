from __future__ import annotations

import pytest

from disconer import DisconerError, Document, Entity, Sentence
from disconer.bench.sample import Sample, sorted_batches, take_sample
from disconer.nn.windows import Windower
from nn.toy import toy_model

DOCUMENTS = [Document(str(number), f"a p.\nb {'k ' * number}c.", (Entity("ADR", [(2, 3)]),)) for number in range(5)]
PARSED = Document(
    "p",
    "x y. a b",
    sentences=(Sentence(0, 4, ((0, 1), (2, 3), (3, 4))), Sentence(5, 8, ((5, 6), (7, 8)), (1, -1))),
)


def sample_of(documents: list[Document], *, limit: int | None = None, given: bool = False) -> Sample:
    model = toy_model(data={"train": "-", "dev": "-", "splitter": "lines"})
    return take_sample(documents, Windower(model.config, model.reader, model.max_subwords), limit=limit, given=given)


def test_documents_are_taken_until_there_are_enough_sentences() -> None:
    assert sample_of(DOCUMENTS).counts() == {"documents": 5, "sentences": 10, "words": 40, "subwords": 40}
    assert sample_of(DOCUMENTS, limit=3).counts()["sentences"] == 4


def test_the_recogniser_gets_text_alone_unless_sentences_are_given() -> None:
    sample = sample_of([PARSED, *DOCUMENTS])
    assert all(document.sentences is None and not document.entities for document in sample.documents)
    assert sample.segmented[1].entities  # training needs them
    assert sample_of([PARSED], given=True).documents == [PARSED]


def test_a_sentence_becomes_a_document() -> None:
    first, second = sample_of([PARSED], given=True).single_sentences(10)
    assert (first.text, second.text) == ("x y.", "a b")
    assert second.sentences == (Sentence(0, 3, ((0, 1), (2, 3)), (1, -1)),)
    assert [document.sentences for document in sample_of(DOCUMENTS).single_sentences(100)] == [None] * 10


def test_single_sentences_come_from_all_over() -> None:
    texts = [document.text for document in sample_of(DOCUMENTS).single_sentences(3)]
    assert texts == ["a p.", "a p.", "a p."]
    assert len(sample_of(DOCUMENTS).single_sentences(9)) == 5


def test_batches_are_sorted_by_length() -> None:
    sample = sample_of(DOCUMENTS)
    batches = sorted_batches(sample.windows, toy_model().reader, size=4)
    lengths = [length for batch in batches for length in batch.lengths.tolist()]
    assert [len(batch.lengths) for batch in batches] == [4, 4, 2]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("documents", [[], [Document("a", " \n")]])
def test_no_sentences(documents: list[Document]) -> None:
    with pytest.raises(DisconerError, match="There are no sentences to measure"):
        sample_of(documents)


def test_nothing_given() -> None:
    with pytest.raises(DisconerError, match="document '0' has no sentences"):
        sample_of(DOCUMENTS, given=True)
