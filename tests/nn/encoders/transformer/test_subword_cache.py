from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from disconer.nn.encoders.transformer import SubwordTokenizer
from disconer.nn.encoders.transformer.subword_cache import MOST, Pieces, SubwordCache, splits_at_spaces
from nn.families import TOKENIZERS
from nn.toy import toy_tokenizer
from strategies import characters

BETWEEN = [
    "[SEP]",
    "[MASK]x",
    "pain",
    "naïve",
    "痛み",
    "e\u0301",
    "\u0301",
    " \u0301b",
    "a\x1cb",
    "\u00a0",
    "\t",
    "\n ",
    "  ",
]
stretches = st.lists(st.lists(st.text(characters, max_size=9) | st.sampled_from(BETWEEN)).map("".join), max_size=5)


def as_lists(pieces: Pieces) -> list[list[object]]:
    return [np.asarray(getattr(pieces, name)).tolist() for name in Pieces.__slots__]


@pytest.mark.parametrize("most", [0, MOST])
@pytest.mark.parametrize("case", [False, True])
@settings(max_examples=100)
@given(batches=st.lists(stretches, max_size=3))
def test_it_reads_as_the_tokenizer_does(most: int, case: bool, batches: list[list[str]]) -> None:
    read = SubwordTokenizer(TOKENIZERS["word pieces"](), case=case)._tokenized
    cache = SubwordCache(read, most)
    for batch in batches:
        assert as_lists(cache(batch)) == as_lists(read(batch))


@pytest.mark.parametrize("case", [False, True])
@settings(max_examples=100)
@given(given=stretches)
def test_lists_are_what_arrays_are(case: bool, given: list[str]) -> None:
    cache = SubwordCache(SubwordTokenizer(TOKENIZERS["word pieces"](), case=case)._tokenized)
    for stretch in given:
        listed, read = cache.read_one(stretch), cache([stretch])
        assert [listed.ids, listed.start, listed.end] == as_lists(read)[1:]


def test_lists_are_forgotten_before_they_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("disconer.nn.encoders.transformer.subword_cache.MOST_LISTED", 20)
    cache = SubwordCache(SubwordTokenizer(toy_tokenizer())._tokenized)
    for number in range(50):
        assert cache.read_one(f"word {number}").start == as_lists(cache([f"word {number}"]))[2]
    assert len(cache._listed) < 25


def test_a_word_is_tokenized_once() -> None:
    asked: list[str] = []
    read = SubwordTokenizer(toy_tokenizer())._tokenized

    def watched(words: Sequence[str]) -> Pieces:
        asked.extend(word for joined in words for word in sorted(joined.split(" ")))
        return read(words)

    cache = SubwordCache(watched)
    cache(["no pain no", "pain"])
    cache(["pain here"])
    assert asked == ["no", "pain", "here"]


def test_it_forgets_before_it_grows_without_end() -> None:
    cache = SubwordCache(SubwordTokenizer(toy_tokenizer())._tokenized, most=20)
    for number in range(50):
        cache([f"word {number}"])
    assert len(cache._numbers) < 25


def test_long_words_are_forgotten_too() -> None:
    cache = SubwordCache(SubwordTokenizer(toy_tokenizer())._tokenized, most=1000)
    for number in range(50):
        cache([f"{number}{'x' * 1000}"])
    assert sum(map(len, cache._numbers)) < 10_000


def test_a_copy_reads_the_same() -> None:
    tokenizer = SubwordTokenizer(toy_tokenizer())
    tokenizer._read_stretches(["no pain"])
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert as_lists(copy._read_stretches(["pain here"])) == as_lists(tokenizer._read_stretches(["pain here"]))


@pytest.mark.parametrize("family", TOKENIZERS)
def test_tokenizers_of_other_families_see_spaces(family: str) -> None:
    assert splits_at_spaces(TOKENIZERS[family]().backend_tokenizer) == (family == "word pieces")


@pytest.mark.parametrize("change", [{"lstrip": True}, {"rstrip": True}, {"single_word": True}, {"content": "x y"}])
def test_special_tokens_that_look_around(change: dict[str, object]) -> None:
    tokenizer: Tokenizer = TOKENIZERS["word pieces"]().backend_tokenizer
    tokenizer.add_special_tokens([AddedToken(**({"content": "<x>"} | change))])
    assert not splits_at_spaces(tokenizer)
