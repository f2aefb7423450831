from __future__ import annotations

from pathlib import Path

import pytest

from disconer import Document, Entity, Ledger, read, write
from disconer.core.sentence import Sentence, Token
from disconer.formats.sentencewise import REPLACED, sentences_with_words, to_sentences


def test_every_kind_of_loss_is_counted() -> None:
    document = Document(
        "d",
        "left knees\nvery stiff",
        (
            Entity("A", ((5, 10),), "T1"),
            Entity("B", ((5, 9),)),  # inside a token
            Entity("C", ((5, 10), (16, 21)), score=0.5),  # in two sentences
        ),
        extras={"brat": {}},
    )
    ledger = Ledger()
    first, second = to_sentences(document, ledger)
    assert (first.words, second.words) == (["left", "knees"], ["very", "stiff"])
    assert [(entity.label, entity.ranges) for entity in first.entities] == [("A", ((1, 2),))]
    assert second.entities == []
    assert ledger.losses == {
        "entities (starts or ends inside a token)": 1,
        "entities (crosses a sentence boundary)": 1,
        "entity ids": 1,
        "entity scores": 1,
        "documents' brat extras": 1,
    }


def test_a_gap_that_holds_no_token_is_closed_and_counted() -> None:
    sentence = Sentence(0, 5, (Token(0, 1), Token(4, 5)))
    document = Document("d", "a , b", (Entity("X", ((0, 1), (4, 5))),), (sentence,))
    ledger = Ledger()
    (found,) = to_sentences(document, ledger)
    assert found.entities[0].ranges == ((0, 2),)
    assert ledger.losses == {"gaps without a token": 1, "sentences respaced": 1}


def test_formats_without_documents_and_trees_say_so() -> None:
    sentences = (Sentence(0, 1, (Token(0, 1),), heads=(-1,)), Sentence(2, 3, (Token(2, 3),)), Sentence(3, 3, ()))
    ledger = Ledger()
    assert len(sentences_with_words(Document("d", "a\nb", sentences=sentences), ledger)) == 2
    assert sentences_with_words(Document("e", ""), ledger) == []
    assert ledger.losses == {
        "documents without words": 1,
        "sentences without words": 1,
        "dependency trees": 1,
    }


@pytest.mark.parametrize("suffix", [".bio", ".bioes", ".biohd", ".inline"])
def test_half_a_surrogate_pair_is_replaced_and_counted(tmp_path: Path, suffix: str) -> None:
    ledger = Ledger()
    write([Document("d", "a b\ud83d", (Entity("X\ud83d", ((0, 1),)),))], tmp_path / f"a{suffix}", ledger=ledger)
    assert ledger.losses[REPLACED] == 2
    (back,) = read(tmp_path / f"a{suffix}")
    assert back.text == "a b \ufffd"
    assert [entity.label for entity in back.entities] == ["X\ufffd"]
