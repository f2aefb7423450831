"""spaCy's DocBin: what disconer writes comes back whole, and what others wrote is understood."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'disconer[spacy]'")

from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from annotated import annotated
from disconer import BadInput, DisconerError, Document, Entity, Ledger, Sentence, read, write
from round_trips import through
from strategies import documents, tokenised_documents

TEXT = "No severe pain.\n\nSome rash"
PARSED = (
    Sentence(0, 15, ((0, 2), (3, 9), (10, 14), (14, 15)), (2, 2, -1, 2), ("det", "amod", "root", "punct")),
    Sentence(17, 26, ((17, 21), (22, 26)), (1, -1), ("det", "root")),
)


def written(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


@given(document=documents() | tokenised_documents())
def test_everything_comes_back(document: Document) -> None:
    pair = [document, document.replace(id="another", extras={"brat": {"lines": ["R1\tcauses Arg1:T1 Arg2:T2"]}})]
    found, ledger = through(pair, "a.spacy", "docbin")
    assert found == pair
    assert not ledger.losses
    assert not ledger.repairs


ODD = [
    Document("trees", TEXT, (), PARSED),
    Document("a cut token", TEXT, (Entity("ADR", ((3, 6),), "T1"),), PARSED),
    Document("two roots", "a b", (), (Sentence(0, 3, ((0, 1), (2, 3)), (-1, -1), ("x", "y")),)),
    Document("a circle", "a b", (), (Sentence(0, 3, ((0, 1), (2, 3)), (1, 0), ("x", "y")),)),
    Document("no relations", "a b", (), (Sentence(0, 3, ((0, 1), (2, 3)), (1, -1)),)),
    Document("space around", " a b ", (), (Sentence(0, 5, ((1, 2), (3, 4))),)),
    Document("no words", "a b", (), (Sentence(0, 1, ()), Sentence(2, 3, ()))),
    Document("one word", "a", (), (Sentence(0, 1, ((0, 1),)),)),
    Document("no sentences", "a b", (), ()),
    Document("nothing", ""),
    Document("no ids", "a b c", (Entity("A", ((0, 1), (4, 5))), Entity("A", ((0, 1), (2, 5))), Entity("A", ((0, 1),)))),
    Document("an id twice", "a b c", (Entity("A", ((0, 1), (4, 5)), "T1"), Entity("A", ((2, 3),), "T1", 0.5))),
]


@pytest.mark.parametrize("document", ODD, ids=lambda document: document.id)
def test_what_spacy_cannot_say_comes_back_too(document: Document) -> None:
    found, ledger = through([document], "a.spacy", "docbin")
    assert found == [document]
    assert not ledger.losses


def test_spacy_sees_tokens_sentences_trees_and_spans(tmp_path: Path) -> None:
    entity = Entity("ADR", ((3, 9), (22, 26)), "T7", 0.5)
    write([Document("d", TEXT, (entity,), PARSED)], tmp_path / "a.spacy")
    (doc,) = written(tmp_path / "a.spacy")
    assert [token.text for token in doc] == ["No", "severe", "pain", ".", "\n\n", "Some", "rash"]
    assert [sent.text.strip() for sent in doc.sents] == ["No severe pain.", "Some rash"]
    assert [(token.head.text, token.dep_) for token in doc[:3]] == [("pain", "det"), ("pain", "amod"), ("pain", "root")]
    assert [(span.id_, span.label_, span.text) for span in doc.spans["disconer"]] == [
        ("T7", "ADR", "severe"),
        ("T7", "ADR", "rash"),
    ]
    assert doc.spans["disconer"].attrs["scores"] == [0.5, 0.5]


def test_a_cut_token_does_not_cost_the_tree(tmp_path: Path) -> None:
    write([ODD[1]], tmp_path / "a.spacy")
    (doc,) = written(tmp_path / "a.spacy")
    assert [(token.text, token.head.text) for token in doc[1:4]] == [("sev", "pain"), ("ere", "sev"), ("pain", "pain")]


def test_half_a_surrogate_pair_is_replaced_and_counted() -> None:
    document = Document("d", "a \ud83d b", (Entity("\udc00", ((2, 5),), "T1"),))
    found, ledger = through([document], "a.spacy", "docbin")
    assert [(one.text, one.entities) for one in found] == [("a \ufffd b", (Entity("\ufffd", ((2, 5),), "T1"),))]
    assert list(ledger.losses.values()) == [2]


def foreign(tmp_path: Path, change: Callable[[Doc], None]) -> tuple[Document, Ledger]:
    """What is read of a DocBin that somebody else wrote."""
    doc = Doc(Vocab(), ["severe", "pain", "in", "knees"])
    change(doc)
    DocBin(docs=[doc]).to_disk(tmp_path / "theirs.spacy")
    ledger = Ledger()
    (document,) = read(tmp_path / "theirs.spacy", ledger=ledger)
    return document, ledger


def test_entities_of_others_are_their_ents(tmp_path: Path) -> None:
    def change(doc: Doc) -> None:
        doc.ents = [Span(doc, 1, 2, "ADR", span_id="pattern"), Span(doc, 3, 4, "ADR", span_id="pattern")]
        doc.spans["ruler"] = [Span(doc, 0, 2, "ADR")]

    document, ledger = foreign(tmp_path, change)
    assert (document.id, document.text, document.sentences) == ("theirs-1", "severe pain in knees ", None)
    assert document.entities == (Entity("ADR", ((7, 11),)), Entity("ADR", ((15, 20),)))
    assert ledger.losses == {"spans of other groups": 1}


def test_or_the_spans_of_their_span_categorizer(tmp_path: Path) -> None:
    def change(doc: Doc) -> None:
        doc.spans["sc"] = [Span(doc, 0, 2, "ADR", span_id="pattern"), Span(doc, 1, 4, "ADR", span_id="pattern")]
        doc.ents = [Span(doc, 1, 4, "ADR"), Span(doc, 0, 1, "Qualifier")]

    document, ledger = foreign(tmp_path, change)
    assert document.entities == (Entity("ADR", ((0, 11),)), Entity("ADR", ((7, 20),)))
    assert ledger.losses == {"doc.ents besides the span group": 1}


def test_a_bad_span_is_an_error_of_its_own(tmp_path: Path) -> None:
    def change(doc: Doc) -> None:
        doc.spans["disconer"] = [Span(doc, 0, 1, "", span_id="T1"), Span(doc, 1, 2, "ADR", span_id="T2")]

    with pytest.raises(BadInput, match=r"theirs\.spacy.*entity T1.*no label"):
        foreign(tmp_path, change)
    ledger = Ledger(skip_bad=True)
    (document,) = read(tmp_path / "theirs.spacy", ledger=ledger)
    assert document.entities == (Entity("ADR", ((7, 11),), "T2"),)
    assert ledger.errors == {"bad-syntax": 1}


def test_a_file_that_is_cut_or_something_else_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    write([annotated("ADR: pain … hands")], path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.raises(BadInput, match=r"a\.spacy: This DocBin ends too early") as caught:
        list(read(path))
    assert caught.value.problem == "truncated"
    path.write_bytes(zlib.compress(b"\x82\xa7version\xa30.1\xa5attrs\xc0"))
    with pytest.raises(BadInput, match="not a spaCy DocBin"):
        list(read(path))


@settings(max_examples=200)
@given(data=st.data())
def test_any_byte_may_be_wrong(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.spacy"
    write([Document("d", TEXT, (Entity("ADR", ((3, 9), (22, 26)), "T7", 0.5),), PARSED)], path)
    content = bytearray(zlib.decompress(path.read_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    path.write_bytes(zlib.compress(content))
    for document in read(path, "docbin", Ledger(skip_bad=True)):
        assert all(entity.end <= len(document.text) for entity in document.entities)


def test_without_spacy_the_format_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.spacy"
    write([annotated("ADR: pain … hands")], path)
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(DisconerError, match=r"pip install 'disconer\[spacy\]'"):
        list(read(path))
    with pytest.raises(DisconerError, match=r"pip install 'disconer\[spacy\]'"):
        write([], tmp_path / "b.spacy")
