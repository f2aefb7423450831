from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import disconer
from disconer import DisconerError, Document, Entity, Sentence
from disconer.nn.arrays import WordArrays
from disconer.nn.encoders.transformer import SubwordTokenizer
from disconer.nn.encoders.transformer.pretrained import without_pooler
from disconer.nn.heads.span import reading
from disconer.nn.network import BATCH_SUBWORDS, build_network
from disconer.nn.windows import Found
from disconer.predict.chunks import CHARACTERS_AHEAD
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, save_model
from disconer.text import SPLITTERS, segment
from nn.families import byte_level, tiny_encoder
from nn.toy import letter_model, lively, toy_config, toy_model, words_of
from strategies import characters

TEXT = "Pain and stiffness in my knees, after 5 mg aspirin. No fever."


LINES = {"train": "train.jsonl", "dev": "dev.jsonl", "splitter": "lines"}


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    return Recognizer(lively(toy_model()))


@pytest.fixture(scope="module")
def letters() -> Recognizer:
    return Recognizer(letter_model())


def keys(document: Document) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
    return [entity.key for entity in document.entities]


def assert_alike(one: Document, other: Document) -> None:
    """The same entities, and their scores as close as the order of additions leaves them."""
    assert keys(one) == keys(other)
    scores = [[entity.score for entity in document.entities] for document in (one, other)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)


# What it finds, and how it says it


def test_one_text(letters: Recognizer) -> None:
    document = letters("p in my k\nand k")
    assert (document.id, document.text) == ("text-1", "p in my k\nand k")
    assert [(entity.id, *entity.key, entity.text, entity.kind) for entity in document.entities] == [
        ("T1", "ADR", ((0, 1), (8, 9)), "p k", "discontinuous"),
        ("T2", "ADR", ((14, 15),), "k", "regular"),
    ]
    assert all(0 < entity.score <= 1 for entity in document.entities)


def test_the_familiar_keys(letters: Recognizer) -> None:
    (entity,) = letters("p in my k").to_dict()["entities"]
    assert 0 < entity.pop("score") <= 1
    assert entity == {
        "id": "T1",
        "label": "ADR",
        "start": 0,
        "end": 9,
        "text": "p k",
        "fragments": [[0, 1], [8, 9]],
        "kind": "discontinuous",
    }


def test_entities_come_in_the_order_of_the_text(ner: Recognizer) -> None:
    entities = ner(TEXT).entities
    assert len(entities) > 5
    assert [(entity.start, entity.end) for entity in entities] == sorted((e.start, e.end) for e in entities)
    assert [entity.id for entity in entities] == [f"T{number}" for number in range(1, len(entities) + 1)]


def test_only_wanted_entities(ner: Recognizer) -> None:
    """They are chosen in the end: those that stay have the numbers that they have among all."""
    everything = ner(TEXT, threshold=0).entities
    middle = sorted(entity.score or 0 for entity in everything)[len(everything) // 2]
    better = [entity for entity in everything if (entity.score or 0) >= middle]
    assert 0 < len(better) < len(everything)
    found = Recognizer(ner.model, threshold=middle)(TEXT).entities
    assert [(entity.id, entity.key, entity.score) for entity in found] == [
        (entity.id, entity.key, entity.score) for entity in better
    ]
    for label in ner.labels:
        own = Recognizer(ner.model, labels=[label])
        assert own.labels == (label,)
        kept = [entity.id for entity in own(TEXT, threshold=0).entities]
        assert kept == [one.id for one in everything if one.label == label]
    with pytest.raises(DisconerError, match="has no label 'Nothing'"):
        Recognizer(ner.model, labels=["Nothing"])


def test_entities_that_cut_words_are_left_out_if_asked_for(letters: Recognizer) -> None:
    config = letters.model.config
    whole = config.model_copy(update={"data": config.data.model_copy(update={"whole_words": True})})
    strict = Recognizer(replace(letter_model(), config=whole))
    assert keys(letters("p2 in k")) == [("ADR", ((0, 1), (6, 7)))]  # the word p2 is two tokens
    assert keys(strict("p2 in k")) == []
    assert keys(strict("p in k")) == keys(letters("p in k")) == [("ADR", ((0, 1), (5, 6)))]


def test_the_sentence_splitter_can_be_chosen(letters: Recognizer) -> None:
    """By default it is the model's. Nothing is joined over the end of a sentence."""
    text = "Mother had p. Father had k."
    apart, joined = [((11, 12),), ((25, 26),)], [((11, 12), (25, 26))]
    config = letters.model.config
    lined = config.model_copy(update={"data": config.data.model_copy(update={"splitter": "lines"})})
    by_lines = replace(letter_model(), config=lined)
    for recognizer, splitter, expected in (
        (letters, "rules", apart),
        (Recognizer(letter_model(), splitter="lines"), "lines", joined),
        (Recognizer(by_lines), "lines", joined),
        (Recognizer(by_lines, splitter="rules"), "rules", apart),
    ):
        assert recognizer.splitter == splitter
        assert [entity.fragments for entity in recognizer(text).entities] == expected
    one = segment(Document("d", text), SPLITTERS["lines"])
    assert [entity.fragments for entity in next(letters.annotate([one])).entities] == joined  # its sentences are kept
    with pytest.raises(DisconerError, match=r"no sentence splitter 'words'.*rules, lines"):
        Recognizer(letters.model, splitter="words")


def test_annotate_replaces_entities_and_keeps_the_rest(letters: Recognizer) -> None:
    sentence = Sentence(0, 9, ((0, 1), (2, 9)), (-1, 0))
    given = Document("d", "p in my k", (Entity("Old", ((0, 4),)),), (sentence,), {"brat": {"lines": []}})
    (found,) = letters.annotate([given])
    assert keys(found) == [("ADR", ((0, 1),))]  # its own tokens count: k is no word of them
    assert found.replace(entities=given.entities) == given


# Many texts


@pytest.mark.parametrize("batch_size", [1, 2, 3, 64])
def test_pipe_keeps_the_order_whatever_is_looked_at_together(ner: Recognizer, batch_size: int) -> None:
    texts = [TEXT, "", "no pain", TEXT * 3, "a", TEXT]
    found = list(ner.pipe(iter(texts), batch_size=batch_size))
    assert [document.text for document in found] == texts
    assert [document.id for document in found] == [f"text-{number}" for number in range(1, 7)]
    for document, text in zip(found, texts, strict=True):
        assert_alike(document, ner(text))


def test_pipe_streams(letters: Recognizer) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "p in my k"

    found = letters.pipe(texts(), batch_size=4)
    assert taken == 0
    for _ in range(5):
        next(found)
    assert taken == 12  # the second four are read, and the next are being prepared


def test_long_texts_are_not_piled_up(letters: Recognizer) -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "p " + "\n" * CHARACTERS_AHEAD

    next(letters.pipe(texts()))
    assert taken == 2  # the next is being prepared


def test_wrong_types_are_named(ner: Recognizer) -> None:
    with pytest.raises(TypeError, match="for a single text, call the recogniser itself"):
        ner.pipe("a text")
    for wrong in (None, b"bytes", 3):
        with pytest.raises(TypeError, match=rf"reads one text \(str\), got {type(wrong).__name__}"):
            ner(wrong)
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        ner.pipe(["a"], batch_size=0)


# Any text


@settings(max_examples=60)
@given(text=st.text(characters | st.characters(categories=["Cs"]) | st.sampled_from("pk \n.👩\u200d🚀"), max_size=80))
def test_any_text_gives_entities_with_true_offsets(ner: Recognizer, letters: Recognizer, text: str) -> None:
    for recognizer in (ner, letters):
        document = recognizer(text)
        assert document.text == text
        for entity in document.entities:
            assert entity.text == " ".join(text[start:end] for start, end in entity.fragments)
            assert entity.text.strip()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \n\t\u00a0\u2028", []),
        ("\x00", []),
        ("\ud800", []),
        ("p\u00ad \u200bk", [((0, 1),), ((4, 5),)]),
        ("e\u0301 👩\u200d🚀 p", [((7, 8),)]),
        ("p \x00 k", [((0, 1), (4, 5))]),
        ("p \ud800 k", [((0, 1), (4, 5))]),
        ("a" * 100_000, []),
        ("p " + "a" * 100_000 + " k", [((0, 1), (100_003, 100_004))]),
        ("\ufeffp in my k\r\n", [((1, 2), (9, 10))]),
    ],
)
def test_odd_texts(letters: Recognizer, text: str, found: list[tuple[tuple[int, int], ...]]) -> None:
    assert [fragments for _, fragments in keys(letters(text))] == found


def test_a_long_word_of_a_tokenizer_that_cuts_it_into_many_pieces() -> None:
    config = toy_config()
    network = build_network(config, ("ADR",), words_of(without_pooler(tiny_encoder("roberta")), config)).eval()
    model = Model(network, SubwordTokenizer(byte_level()), config, ("ADR",))
    document = Recognizer(model)("knees " + "é" * 100_000 + " hands")
    assert len(document.sentences[0].tokens) == 3


def test_batches_are_bounded_by_pieces_however_few_words_have_them(
    letters: Recognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def find(batches: Iterable[WordArrays]) -> Iterator[list[list[object]]]:
        for arrays in batches:
            sizes.append(arrays.piece_ids.size)
            yield [[] for _ in arrays.lengths]

    monkeypatch.setattr(letters._runtime, "find", find)
    letters("\n".join(["abcdefghijklmnopqrstuvwxyz"] * 1000))
    special = 2 * BATCH_SUBWORDS / 26
    assert max(sizes) <= BATCH_SUBWORDS + special
    assert len(sizes) > 10


def test_a_model_that_takes_everything_for_an_entity_comes_to_an_end() -> None:
    eager = Recognizer(lively(toy_model(positions=1000), against=-50.0))
    document = eager("a b c d e f g h i j k l m n o p q r s t u v w x y z " * 8)
    assert 100 < len(document.entities) < 5000


def test_pairs_are_scored_in_parts(ner: Recognizer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ner(TEXT)
    monkeypatch.setattr(reading, "PAIRS_AT_ONCE", 7)
    assert_alike(ner(TEXT), whole)


def test_a_long_sentence_is_read_in_windows(letters: Recognizer) -> None:
    text = " ".join("p in my k" if number % 50 == 0 else "word" for number in range(1000))
    whole = Recognizer(letter_model(positions=5000))
    assert len(keys(letters(text))) == len(set(keys(letters(text))))
    near = [key for key in keys(whole(text)) if key[1][-1][1] - key[1][0][0] < 20]
    assert len(near) == 20
    assert set(near) <= set(keys(letters(text)))


# Saving and loading


def test_save_and_load(ner: Recognizer, tmp_path: Path) -> None:
    ner.save_pretrained(tmp_path / "model")
    loaded = disconer.Recognizer.from_pretrained(tmp_path / "model")
    assert loaded.labels == ("ADR", "Drug")
    assert loaded(TEXT) == ner(TEXT)


def test_the_best_model_of_a_run(tmp_path: Path) -> None:
    save_model(toy_model(("Last",)), tmp_path / "last")
    assert Recognizer.from_pretrained(tmp_path).labels == ("Last",)
    save_model(toy_model(("Best",)), tmp_path / "best")
    assert Recognizer.from_pretrained(str(tmp_path)).labels == ("Best",)


def test_no_such_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disconer.nn.encoders.hub.why_not_on_hub", lambda name: "no internet")
    with pytest.raises(DisconerError, match="There is no such model"):
        Recognizer.from_pretrained("nowhere/at/all")


def test_a_network_in_training_is_evaluated_without_dropout() -> None:
    model = lively(toy_model())
    recognizer = Recognizer(model)
    before = recognizer(TEXT)
    model.network.train()
    assert recognizer(TEXT) == before


@pytest.mark.slow
def test_from_the_top_of_the_package() -> None:
    code = "import sys, disconer; assert 'torch' not in sys.modules; print(disconer.Recognizer.__name__)"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("Recognizer\n", "")


def test_half_the_digits_find_nearly_the_same(ner: Recognizer) -> None:
    short = Recognizer(ner.model, precision="bf16")
    exact, rough = (set(keys(recognizer(TEXT * 5))) for recognizer in (ner, short))
    assert len(exact & rough) > 0.7 * len(exact | rough)
    assert next(ner.model.network.parameters()).dtype is torch.float32


TWO_SENTENCES = "no pain in my knees\naspirin caused fever"


@pytest.mark.parametrize(("context", "matters"), [(0, False), (64, True)])
def test_neighbouring_sentences_are_context(context: int, matters: bool) -> None:
    model = lively(toy_model(positions=128, encoder={"context": context}, data=LINES), against=-2)
    ner = Recognizer(model)
    first = TWO_SENTENCES.partition("\n")[0]
    among, alone = (
        {entity.fragments: entity.score for entity in ner(text).entities if entity.end <= len(first)}
        for text in (TWO_SENTENCES, first)
    )
    assert alone
    assert (among != pytest.approx(alone, abs=1e-6)) == matters


def test_one_long_sentence_does_not_fill_up_many_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toy_model(positions=128, encoder={"context": 64}, data=LINES)
    batches: list[WordArrays] = []
    ner = Recognizer(model)
    ner._runtime.batch_cells = 500 * 8  # words, of spans of up to 8 words
    find = ner._runtime.find

    def watched(arrays: Iterable[WordArrays]) -> Iterator[list[list[Found]]]:
        batches.extend(kept := list(arrays))
        return find(iter(kept))

    monkeypatch.setattr(ner._runtime, "find", watched)
    texts = ["a " * 50, "\n".join("bcdefghijk" * 6), "\n".join("mnopqrstuvw" * 5)]
    documents = list(ner.pipe(texts))
    assert [document.text for document in documents] == texts
    assert len(batches) > 1
    assert max(batch.word_mask.size for batch in batches) <= 64 * 50
    assert sum(len(batch.lengths) for batch in batches) == 1 + 60 + 55
