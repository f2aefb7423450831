from __future__ import annotations

from disconer import Document, Entity, Sentence
from disconer.config import Config, DataConfig
from disconer.nn.encoders.transformer import PieceTokenizer
from disconer.nn.heads.span.kind import SpanSettings
from disconer.nn.heads.span.targets import too_wide
from disconer.nn.windows import Windower
from disconer.text import segment
from disconer.training.examples import Learnable, make_examples
from nn.toy import toy_tokenizer


def account(document: Document, max_width: int | None, max_subwords: int = 64) -> Learnable:
    windower = Windower(Config(data=DataConfig(train="t", dev="d")), PieceTokenizer(toy_tokenizer()), max_subwords)
    found = Learnable(SpanSettings(max_width=max_width))
    make_examples([segment(document)], windower, found)
    return found


def test_nothing_to_say_about_what_can_be_learnt() -> None:
    found = account(Document("d", "pain in knees", (Entity("ADR", ((0, 13),)),)), 3)
    assert found.learnt == found.entities == 1
    assert list(found.lines()) == []


def test_each_entity_is_counted_under_one_reason() -> None:
    text = "ab cd ef gh ij"
    sentences = (Sentence(0, 5, ((0, 2), (3, 5))), Sentence(6, 14, ((6, 8), (9, 11), (12, 14))))
    entities = (
        Entity("X", ((0, 1),)),  # inside a token
        Entity("X", ((3, 8),)),  # crosses
        Entity("X", ((6, 14),)),  # three words
        Entity("X", ((6, 8), (12, 14))),
    )
    found = account(Document("d", text, entities, sentences), 2)
    assert (found.entities, found.learnt, found.lost, found.cut) == (4, 1, {too_wide(2): 1}, 0)
    assert list(found.lines()) == [
        "2 of 4 training entities cannot be expressed by tokens of one sentence "
        "(1 starts or ends inside a token, 1 crosses a sentence boundary)",
        f"1 of 4 training entities cannot be found by this head: each {too_wide(2)}",
    ]
    assert account(Document("d", text, entities, sentences), None).lost == {}


def test_an_entity_in_one_of_several_windows_is_not_cut() -> None:
    text = " ".join(["word"] * 20)
    near, far = Entity("X", ((0, 4),)), Entity("X", ((0, 4), (95, 99)))
    found = account(Document("d", text, (near, far)), None, max_subwords=34)
    assert (found.entities, found.cut, found.learnt) == (2, 1, 1)
    assert list(found.lines()) == ["1 of 2 training entities are longer than the encoder's window"]
