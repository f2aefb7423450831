from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from disconer import DisconerError, Document
from disconer.nn.encoders.transformer import SubwordTokenizer
from disconer.text import segment
from nn.families import TOKENIZERS
from nn.toy import toy_tokenizer
from strategies import characters

# What is one character here and none, two or another there, and what changes when it stands beside another.
TRICKY = "é\u0301\u0327ﬁßİ½ｘ痛み가\u1100\u1161\u11a8👩\u200d🚀\u0000\ufffd\u00ad\ufe0f…™"
texts = st.text(characters | st.sampled_from(TRICKY), max_size=40)
half_pairs = st.text(st.characters(categories=["Cs", "Ll"]), max_size=10)


def surface(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> list[str]:
    return tokenizer.convert_ids_to_tokens(ids)


def subwords_of(text: str, family: str = "word pieces") -> tuple[list[str], list[list[str]]]:
    """The words of a sentence, and the subwords of each."""
    tokenizer = TOKENIZERS[family]()
    sentences = segment(Document("d", text)).sentences
    (subwords,) = SubwordTokenizer(tokenizer)(text, sentences)
    words = [text[start:end] for start, end in sentences[0].tokens]
    return words, [
        surface(tokenizer, subwords.ids[first:end].tolist())
        for first, end in zip(subwords.first, subwords.end, strict=True)
    ]


@pytest.mark.parametrize("family", TOKENIZERS)
@settings(max_examples=150)
@given(text=texts)
def test_a_word_has_the_subwords_that_share_a_character_with_it(family: str, text: str) -> None:
    tokenizer = TOKENIZERS[family]()
    sentences = segment(Document("d", text)).sentences
    for sentence, subwords in zip(sentences, SubwordTokenizer(tokenizer)(text, sentences), strict=True):
        encoded = tokenizer.backend_tokenizer.encode(text[sentence.start : sentence.end], add_special_tokens=False)
        assert subwords.ids.tolist() == encoded.ids
        offsets = [(start + sentence.start, end + sentence.start) for start, end in encoded.offsets]
        assert len(subwords.first) == len(subwords.end) == len(sentence.tokens)
        for token, first, end in zip(sentence.tokens, subwords.first, subwords.end, strict=True):
            sharing = [n for n, (a, b) in enumerate(offsets) if max(a, token.start) < min(b, token.end)]
            within = [n for n in range(first, end) if offsets[n][0] < offsets[n][1]]  # some subwords have no width
            assert within == sharing


def test_word_pieces() -> None:
    words, subwords = subwords_of("No pain.")
    assert words == ["No", "pain", "."]
    assert subwords == [["n", "##o"], ["p", "##a", "##i", "##n"], ["."]]


def test_byte_level_subwords_take_the_space_before_a_word_along() -> None:
    for family in ("byte level", "byte level, spaces kept"):
        words, subwords = subwords_of("my knees", family)
        assert words == ["my", "knees"]
        assert "".join(subwords[0]).lstrip("Ġ") == "my"
        assert "".join(subwords[1]) == "Ġknees"


def test_one_character_of_many_subwords() -> None:
    words, subwords = subwords_of("a 🚀 knees", "byte level")
    assert words == ["a", "🚀", "knees"]
    assert (subwords[0], subwords[2]) == (["a"], ["Ġknees"])
    assert len(subwords[1]) > 1


def test_a_subword_of_two_words_belongs_to_both() -> None:
    words, subwords = subwords_of("1.)", "byte level")
    assert words == ["1", ".", ")"]
    assert subwords == [["1"], [".)"], [".)"]]


def test_a_word_that_the_tokenizer_passes_over_has_no_subwords() -> None:
    words, subwords = subwords_of("a \x01 b")  # BERT cleans such characters away
    assert words == ["a", "\x01", "b"]
    assert subwords == [["a"], [], ["b"]]


@given(text=half_pairs)
def test_half_surrogate_pairs_are_read_as_replacement_characters(text: str) -> None:
    tokenizer = SubwordTokenizer(toy_tokenizer())
    clean = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    sentences = segment(Document("d", text)).sentences
    assert [subwords.ids.tolist() for subwords in tokenizer(text, sentences)] == [
        subwords.ids.tolist() for subwords in tokenizer(clean, sentences)
    ]


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("case", [False, True])
def test_many_texts_are_read_as_each_alone(name: str, case: bool) -> None:
    reader = SubwordTokenizer(TOKENIZERS[name](), case=case)
    texts = ["Swollen knees. ALT raised", "", " \n", "a \u200d b", "x\ud800 naïve\nmRNA", "\U0001f600 pain 😀"]
    segmented = [(text, segment(Document("d", text)).sentences or ()) for text in texts]
    together = reader.read_texts(segmented)
    assert [len(own) for own in together] == [2, 0, 0, 1, 2, 1]
    for (text, sentences), own in zip(segmented, together, strict=True):
        for one, other in zip(reader(text, sentences), own, strict=True):
            assert (one.ids.tolist(), one.first.tolist(), one.end.tolist()) == (
                other.ids.tolist(),
                other.first.tolist(),
                other.end.tolist(),
            )
    assert reader.read_texts([]) == []


def test_what_stands_around_a_sentence() -> None:
    readers = {name: SubwordTokenizer(make()) for name, make in TOKENIZERS.items()}
    around = {name: (reader.prefix.tolist(), reader.suffix.tolist()) for name, reader in readers.items()}
    assert around["word pieces"] == ([2], [3])
    assert around["byte level"] == ([0], [2])
    assert around["unigram"] == ([], [])


def test_truncation_and_padding_of_the_tokenizer_are_off() -> None:
    tokenizer = toy_tokenizer()
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=128)
    text = "swollen knees"
    sentences = segment(Document("d", text)).sentences
    (subwords,) = SubwordTokenizer(tokenizer)(text, sentences)
    assert len(subwords.ids) == len("swollenknees")


def test_a_tokenizer_without_offsets_is_refused() -> None:
    class Slow:
        pad_token_id = 0

    with pytest.raises(DisconerError, match=r"tokenizer of this encoder \(Slow\)"):
        SubwordTokenizer(Slow())
