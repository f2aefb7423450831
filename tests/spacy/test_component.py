"""The spaCy component: what it writes into a Doc, in every setting."""

from __future__ import annotations

import warnings
from importlib.metadata import entry_points
from typing import Any

import pytest

pytest.importorskip("spacy", reason="needs spaCy: pip install 'disconer[spacy]'")

from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

import spacy
from disconer import DisconerError, Document, Entity, Kind
from disconer.spacy import entities_of
from disconer.spacy.component import DISCONTINUOUS, LEFT_OUT, OVERLAPPING, WIDENED, DisconerWarning, make_component
from spacy_docs import TEXT, component, docs, mentions, pipeline
from strategies import entities

BOTH = mentions("ADR: pain … hands", "ADR: pain in knees", "Drug: pain")


def fragments(doc: Doc, key: str = "disconer") -> list[tuple[str, str, str]]:
    return [(span.id_, span.label_, span.text) for span in doc.spans[key]]


def ents(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.label_, ent.text) for ent in doc.ents]


def test_spacy_finds_the_component_by_itself() -> None:
    (factory,) = entry_points(group="spacy_factories", name="disconer")
    assert factory.load() is make_component


def test_every_fragment_is_a_span_and_those_of_an_entity_share_an_id() -> None:
    nlp, _ = pipeline(BOTH)
    doc = nlp(TEXT)
    assert fragments(doc) == [
        ("T1", "ADR", "pain"),
        ("T1", "ADR", "hands"),
        ("T2", "ADR", "pain in knees"),
        ("T3", "Drug", "pain"),
    ]
    assert doc.spans["disconer"].attrs["scores"] == pytest.approx([0.9, 0.9, 0.8, 0.7])
    assert ents(doc) == []


def test_the_accessors_give_entities() -> None:
    nlp, _ = pipeline(BOTH)
    doc = nlp(TEXT)
    assert doc._.disconer == tuple(BOTH(TEXT))
    assert [(entity.text, entity.kind) for entity in doc._.disconer] == [
        ("pain hands", Kind.DISCONTINUOUS),
        ("pain in knees", Kind.OVERLAPPED),
        ("pain", Kind.OVERLAPPED),
    ]
    assert doc._.discontinuous == doc._.disconer[:1]
    assert nlp.make_doc(TEXT)._.disconer == ()


def test_another_key_is_known_to_the_accessors_too() -> None:
    nlp, _ = pipeline(BOTH, spans_key="chia")
    doc = nlp(TEXT)
    assert list(doc.spans) == ["chia"]
    assert doc._.disconer == entities_of(doc, "chia") == tuple(BOTH(TEXT))


def test_the_accessors_follow_what_people_do_to_the_spans() -> None:
    nlp, _ = pipeline(BOTH)
    doc = nlp(TEXT)
    doc.spans["disconer"] = [span for span in doc.spans["disconer"] if span.label_ == "ADR"]
    assert [entity.text for entity in doc._.disconer] == ["pain hands", "pain in knees"]
    doc.spans["disconer"].append(Span(doc, 0, 1, label="ADR", span_id=2**63))
    assert doc._.disconer[-1] == Entity("ADR", ((0, 6),), str(2**63))


def test_ents_are_filled_on_request_highest_score_first() -> None:
    nlp, _ = pipeline(mentions("ADR: pain … hands", "ADR: pain in knees", "Drug: pain", "Drug: hands"), set_ents=True)
    assert ents(nlp(TEXT)) == [("ADR", "pain in knees"), ("Drug", "hands")]
    assert nlp.get_pipe("disconer").ledger.losses == {DISCONTINUOUS: 1, OVERLAPPING: 1}
    nlp, _ = pipeline(mentions("ADR: pain in knees", "Drug: pain", scores=(0.5, 0.6)), set_ents=True)
    assert ents(nlp(TEXT)) == [("Drug", "pain")]


def test_ents_of_other_components_stay() -> None:
    nlp, _ = pipeline(mentions("ADR: pain in knees", "ADR: hands"), set_ents=True)
    nlp.add_pipe("entity_ruler", before="disconer").add_patterns([{"label": "PLACE", "pattern": "knees"}])
    doc = nlp(TEXT)
    assert ents(doc) == [("PLACE", "knees"), ("ADR", "hands")]
    assert doc.has_annotation("ENT_IOB", require_complete=True)


def inside_tokens(text: str) -> list[Entity]:
    """On "knee-pain,10mg": one that fits, one that does not, one of which half does."""
    return [
        Entity("ADR", ((0, 9),), "T1", 0.9),
        Entity("Drug", ((10, 12),), "T2", 0.8),
        Entity("ADR", ((0, 4), (12, 14)), "T3", 0.7),
    ]


WHOLE = "knee-pain 10mg"


def one_token_a_word(nlp: Language) -> Language:
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.split(" "), spaces=[True] * text.count(" ") + [False])
    return nlp


def test_strict_leaves_out_of_spans_what_does_not_fit_and_keeps_it_beside() -> None:
    nlp = one_token_a_word(pipeline(inside_tokens)[0])
    with pytest.warns(DisconerWarning, match="^2 entities left out of doc.spans.*'expand'"):
        doc = nlp(WHOLE)
    assert fragments(doc) == [("T1", "ADR", "knee-pain")]
    assert set(doc._.disconer) == set(inside_tokens(WHOLE))


def test_expand_covers_whole_tokens_and_remembers_the_entity() -> None:
    nlp = one_token_a_word(pipeline(inside_tokens, alignment_mode="expand", set_ents=True)[0])
    with pytest.warns(DisconerWarning, match="^2 entities expanded"):
        doc = nlp(WHOLE)
    assert fragments(doc) == [("T1", "ADR", "knee-pain"), ("T2", "Drug", "10mg"), ("T3", "ADR", "knee-pain 10mg")]
    assert doc._.disconer == tuple(inside_tokens(WHOLE))
    assert ents(doc) == [("ADR", "knee-pain"), ("Drug", "10mg")]


def test_what_does_not_fit_is_said_once_a_run_and_counted_over_all() -> None:
    nlp = one_token_a_word(pipeline(inside_tokens)[0])
    with pytest.warns(DisconerWarning) as caught:
        assert len(list(nlp.pipe([WHOLE] * 50, batch_size=7))) == 50
    assert [str(warning.message)[:21] for warning in caught] == ["100 entities left out"]
    with pytest.warns(DisconerWarning, match="^2 "):
        nlp(WHOLE)
    assert nlp.get_pipe("disconer").ledger.losses == {LEFT_OUT: 102}
    with pytest.warns(DisconerWarning, match="^14 "):  # a run that is not read to its end
        next(nlp.pipe([WHOLE] * 50, batch_size=7))


SETTINGS = st.fixed_dictionaries(
    {
        "set_ents": st.booleans(),
        "alignment_mode": st.sampled_from(["strict", "expand"]),
        "tokens": st.sampled_from(["disconer", "spacy"]),
    }
)


@given(doc=docs(), settings=SETTINGS, data=st.data())
def test_whatever_is_found_however_it_is_tokenised(doc: Doc, settings: dict[str, Any], data: st.DataObject) -> None:
    drawn = [data.draw(entities(doc.text, number)) for number in range(1, data.draw(st.integers(0, 6)) + 1)]
    found = Document("d", doc.text, tuple(entity for entity in drawn if entity is not None)).entities
    pipe = component(found, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconerWarning)
        pipe(doc)

    assert sorted(doc._.disconer, key=str) == sorted(found, key=str)
    for place in {span.id_ for span in doc.spans["disconer"]}:
        (entity,) = (entity for entity in found if entity.id == place)
        covered = {char for start, end in entity.fragments for char in range(start, end)}
        spans = [span for span in doc.spans["disconer"] if span.id_ == place]
        if settings["alignment_mode"] == "strict":
            assert [(span.start_char, span.end_char) for span in spans] == list(entity.fragments)
        touched = {token.i for token in doc if covered & set(range(token.idx, token.idx + len(token)))}
        between = {token.i for token in doc if not token.text.strip()}  # whitespace that joins two fragments
        assert touched <= {token.i for span in spans for token in span} <= touched | between
    n_placed = len({span.id for span in doc.spans["disconer"]})
    losses = pipe.ledger.losses
    assert n_placed + losses[LEFT_OUT] == len(found)
    assert losses[LEFT_OUT if settings["alignment_mode"] == "expand" else WIDENED] == 0
    if settings["set_ents"]:
        assert len(doc.ents) + losses[DISCONTINUOUS] + losses[OVERLAPPING] == n_placed

    copy = Doc(Vocab()).from_bytes(doc.to_bytes())
    assert copy._.disconer == doc._.disconer


def test_the_model_can_be_given_the_tokens_sentences_and_heads_of_the_doc() -> None:
    nlp, stub = pipeline(lambda text: [], tokens="spacy")
    words = ["No", "pain", ".", "\n\n", "Some", "rash"]
    spaces = [True, False, False, False, True, False]
    nlp.get_pipe("disconer")(
        Doc(nlp.vocab, words, spaces, heads=[1, 1, 1, 1, 5, 5], deps=["det", "ROOT", "punct", "", "det", "ROOT"])
    )
    ((document,),) = stub.batches
    first, second = document.sentences
    assert document.text == "No pain.\n\nSome rash"
    assert (first.tokens, first.heads, first.relations) == (
        ((0, 2), (3, 7), (7, 8)),
        (1, -1, 1),
        ("det", "ROOT", "punct"),
    )
    assert (second.start, second.end, second.heads) == (10, 19, (1, -1))


def test_where_the_doc_has_no_sentences_the_model_splits_them() -> None:
    nlp, stub = pipeline(lambda text: [], tokens="spacy")
    one_token_a_word(nlp)("a b\nc d\n")  # the model's splitter takes lines; "b\nc" is one token
    ((document,),) = stub.batches
    assert [sentence.tokens for sentence in document.sentences] == [((0, 1), (2, 5)), ((6, 8),)]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ("disconer", [["No", "IL", "-", "2", "."], ["Some", "rash"], ["Some", "pain"]]),
        ("spacy", [["No", "IL-2", "."], ["Some", "rash"], ["Some", "pain"]]),
    ],
)
def test_the_sentences_of_the_doc_are_taken_unless_a_splitter_is_chosen(tokens: str, words: list[list[str]]) -> None:
    starts = [True, False, False, False, True, False, True, False]
    for splitter, expected in (
        (None, words),
        ("lines", [words[0], words[1] + words[2]]),
        ("rules", [words[0], words[1] + words[2]]),
    ):
        nlp, stub = pipeline(lambda text: [], tokens=tokens, splitter=splitter)
        spelled = ["No", "IL-2", ".", "\n", "Some", "rash", "Some", "pain"]
        spaces = [True, False, False, False, True, True, True, False]
        nlp.get_pipe("disconer")(Doc(nlp.vocab, spelled, spaces, sent_starts=starts))
        ((document,),) = stub.batches
        found = [[document.text[a:b] for a, b in sentence.tokens] for sentence in document.sentences]
        assert found == expected


def test_a_chosen_splitter_also_splits_a_doc_without_sentences() -> None:
    nlp, stub = pipeline(lambda text: [], splitter="rules")
    nlp("No AS. No AR.")
    ((document,),) = stub.batches
    assert [(sentence.start, sentence.end) for sentence in document.sentences] == [(0, 6), (7, 13)]
    with pytest.raises(ValueError, match="splitter"):
        pipeline(lambda text: [], splitter="words")


def test_docs_are_looked_at_in_batches() -> None:
    nlp, stub = pipeline(BOTH)
    found = list(nlp.pipe([TEXT] * 5, batch_size=2))
    assert [len(batch) for batch in stub.batches] == [2, 2, 1]
    assert all(doc._.disconer == tuple(BOTH(TEXT)) for doc in found)


def test_a_doc_may_be_empty() -> None:
    nlp, _ = pipeline(lambda text: [], set_ents=True, tokens="spacy")
    doc = nlp("")
    assert (len(doc.spans["disconer"]), doc._.disconer) == (0, ())


def test_what_breaks_goes_to_the_pipelines_error_handler() -> None:
    def find(text: str) -> list[Entity]:
        if "bad" in text:
            raise ValueError("broken")
        return []

    nlp, _ = pipeline(find)
    with pytest.raises(ValueError, match="broken"):
        list(nlp.pipe(["good", "bad"]))
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.extend(doc.text for doc in docs))
    assert [doc.text for doc in nlp.pipe(["a", "b", "bad", "c", "d"], batch_size=2)] == ["a", "b", "d"]
    assert failed == ["bad", "c"]


@pytest.mark.parametrize("wrong", [{"alignment_mode": "contract"}, {"tokens": "words"}, {"modle": "x"}])
def test_a_wrong_setting_is_refused_at_once(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        spacy.blank("en").add_pipe("disconer", config=wrong)


def test_a_model_that_is_not_there_is_said(tmp_path: object) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer", config={"model": f"{tmp_path}/none"})
    with pytest.raises(DisconerError, match="no such model"):
        nlp("text")


def test_two_components_do_not_write_one_span_group() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer", name="first")
    with pytest.raises(DisconerError, match=r"'first' and 'second' would both write doc\.spans\['disconer'\]"):
        nlp.add_pipe("disconer", name="second")
    nlp.add_pipe("disconer", name="third", config={"spans_key": "third"})


def test_labels_and_threshold_are_the_recogniser_s(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(
        "disconer.predict.recognizer.Recognizer.from_pretrained", lambda model, **given: asked.update(given)
    )
    added: Any = spacy.blank("en").add_pipe("disconer", config={"labels": ["ADR"], "threshold": 0.5})
    added._held._load()
    assert (asked["labels"], asked["threshold"]) == (["ADR"], 0.5)
