"""Words that get subwords of their own: which, and what becomes of tokenizer and encoder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import AddedToken
from transformers import AutoModelForMaskedLM, AutoTokenizer

from adapt.tiny import FREE, quick, tiny_encoder, tiny_tokenizer
from disconer import DisconerError
from disconer.adapt import adapt
from disconer.adapt.model import Pretrained, load_pretrained
from disconer.adapt.vocabulary import Vocabulary, add_words, best_words, count_words, listed_words
from disconer.nn.encoders.transformer.pretrained import load_encoder
from nn.families import byte_level

TEXT = "painstiffness kneepain"
LAST = len(tiny_tokenizer())  # the first number after the tokenizer's own


def subwords(tokenizer: Any, text: str) -> list[str]:
    return list(tokenizer.tokenize(text))


def states(pretrained: Pretrained, text: str) -> torch.Tensor:
    ids = pretrained.tokenizer(text, return_tensors="pt", padding=False)["input_ids"]
    with torch.no_grad():
        found: torch.Tensor = pretrained.language_model.base_model.eval()(input_ids=ids).last_hidden_state
    return found


def test_words_are_counted_as_the_tokenizer_writes_them() -> None:
    texts = ["Kneepain, KNEEPAIN! knee-pain", "kneepain2 re\u0301nal_failure Gêne"]
    counts = count_words(texts, Vocabulary(tiny_tokenizer()), seen=lambda _: None)
    assert counts == Counter({"kneepain": 2, "knee": 1, "pain": 1, "gene": 1, "re": 1})  # no part of a word with digits


def test_those_that_save_most_subwords_are_chosen() -> None:
    counts = Counter(
        {
            "painstiffness": 100,  # saves 200 subwords
            "kneepain": 150,
            "handpain": 150,  # as many, and first by the alphabet
            "weeks": 59,  # too rare
            "ins": 500,
            "pain": 10_000,  # whole already
            "zzz": 10_000,  # unknown: nothing would be saved
            "of": 5,
        }
    )
    chosen = best_words(counts, Vocabulary(tiny_tokenizer()), 3)
    assert chosen.words == ["ins", "painstiffness", "handpain"]
    assert best_words(counts, Vocabulary(tiny_tokenizer()), 100).words == [*chosen.words, "kneepain"]
    total = counts.total()
    assert chosen.before == pytest.approx((total + 200 + 150 + 150 + 59 + 500) / total)
    assert chosen.after == pytest.approx((total + 150 + 59) / total)


def test_words_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("KneePain\n\npainstiffness\nkneepain\npain\nzzz\n")
    assert listed_words(file, Vocabulary(tiny_tokenizer())).words == ["kneepain", "painstiffness", "zzz"]
    file.write_text("kneepain\nknee pain\n")
    with pytest.raises(
        DisconerError, match=r"words\.txt, line 2: This word cannot be added.*Got 'knee pain', expected one word"
    ):
        listed_words(file, Vocabulary(tiny_tokenizer()))
    file.write_bytes(b"caf\xe9")
    with pytest.raises(DisconerError, match=r"words\.txt: This file of words cannot be read.*UTF-8"):
        listed_words(file, Vocabulary(tiny_tokenizer()))
    with pytest.raises(DisconerError, match="No such file"):
        listed_words(tmp_path / "nowhere", Vocabulary(tiny_tokenizer()))


@pytest.mark.parametrize("family", ["bert", "electra", "distilbert", "mpnet"])
def test_a_new_word_begins_as_the_mean_of_its_subwords(family: str, tmp_path: Path) -> None:
    folder = str(tiny_encoder(tmp_path, family, head=True, vocab_size=LAST))
    old = load_pretrained(folder)
    with torch.no_grad():
        old.language_model.get_output_embeddings().bias.normal_()
    rows = old.language_model.get_input_embeddings().weight.clone()
    bias = old.language_model.get_output_embeddings().bias.clone()
    new = add_words(old, ["kneepain", "painstiffness", "handpain"])
    assert subwords(new.tokenizer, "KneePain painstiffness, handpains") == [
        *("kneepain", "painstiffness", "[UNK]", "handpain", "##s")
    ]
    numbers = new.tokenizer.convert_tokens_to_ids(["kneepain", "painstiffness", "handpain"])
    assert numbers == [*FREE, LAST]  # free places first
    table, guessing = new.language_model.get_input_embeddings(), new.language_model.get_output_embeddings()
    assert guessing.weight is table.weight
    assert table.num_embeddings == len(guessing.bias) == new.language_model.config.vocab_size == LAST + 1
    parts = tiny_tokenizer().convert_tokens_to_ids(["pain", "##stiff", "##ness"])
    torch.testing.assert_close(table.weight[numbers[1]], rows[parts].mean(0))
    torch.testing.assert_close(guessing.bias[numbers[1]], bias[parts].mean() - 1)
    others = [number for number in range(LAST) if number not in FREE]
    assert table.weight[others].equal(rows[others])
    assert guessing.bias[others].equal(bias[others])
    assert new.n_new_words == 3


def test_the_guessing_layer_may_have_a_table_of_its_own(tmp_path: Path) -> None:
    old = load_pretrained(str(tiny_encoder(tmp_path, head=True, vocab_size=LAST, tie_word_embeddings=False)))
    rows = old.language_model.get_output_embeddings().weight.clone()
    new = add_words(old, ["a" * 3, "kneepain", "handpain"])
    guessing = new.language_model.get_output_embeddings().weight
    assert guessing is not new.language_model.get_input_embeddings().weight
    parts = tiny_tokenizer().convert_tokens_to_ids(["hand", "##pain"])
    torch.testing.assert_close(guessing[LAST], rows[parts].mean(0))


def test_a_new_head_expects_nothing(encoder: str) -> None:
    new = add_words(load_pretrained(encoder), ["kneepain", "painstiffness", "handpain"])
    assert not new.language_model.get_output_embeddings().bias.any()


def test_other_text_is_read_as_before(encoder: str) -> None:
    text = "severe pain in the kneehand"
    before = states(load_pretrained(encoder), text)
    assert states(add_words(load_pretrained(encoder), ["kneepain", "painstiffness", "handpain"]), text).equal(before)


def test_added_tokens_keep_their_numbers(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, vocab_size=LAST + 1)
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens([AddedToken("[PHI]", normalized=False)])
    tokenizer.save_pretrained(folder)
    new = add_words(load_pretrained(str(folder)), ["kneepain", "painstiffness", "handpain", "weeks"]).tokenizer
    assert new.convert_tokens_to_ids(["[PHI]", "handpain", "weeks"]) == [LAST, LAST + 1, LAST + 2]
    assert subwords(new, "[PHI] weeks") == ["[PHI]", "weeks"]
    assert len(new) == LAST + 3


def test_what_is_saved_loads_with_its_words(encoder: str, texts: Path, tmp_path: Path) -> None:
    listed = tmp_path / "mine.txt"
    listed.write_text("painstiffness\nkneepain\nhandpain\n")
    result = adapt(encoder, [texts], tmp_path / "adapted", quick(steps=2, words=listed))
    tokenizer = AutoTokenizer.from_pretrained(result.folder)
    assert subwords(tokenizer, TEXT) == TEXT.split()
    assert tokenizer.model_max_length == AutoTokenizer.from_pretrained(encoder).model_max_length
    language_model = AutoModelForMaskedLM.from_pretrained(result.folder)
    assert language_model.get_output_embeddings().weight is language_model.get_input_embeddings().weight
    transformer, again = load_encoder(str(result.folder))
    assert len(again) <= transformer.get_input_embeddings().num_embeddings
    assert (result.folder / "adaptation" / "words.txt").read_text() == "painstiffness\nkneepain\nhandpain\n"
    card = (result.folder / "README.md").read_text("utf-8")
    assert "\n3 words were added to the vocabulary" in card
    assert "words: mine.txt\n" in card
    assert str(tmp_path) not in card + (result.folder / "adaptation" / "run.json").read_text()


def test_words_are_counted_in_the_text(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("disconer.adapt.vocabulary.RAREST", 30)
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(30):
        (notes / f"{number}.txt").write_text(f"Painstiffness and kneepain {'handpain' if number < 5 else 'pain'} " * 4)
    result = adapt(encoder, [notes], tmp_path / "adapted", quick(steps=2, words=5))
    assert (result.folder / "adaptation" / "words.txt").read_text() == "painstiffness\nkneepain\n"
    assert "words: 2 added to the vocabulary; subwords per word: 1.79 → 1.04" in capsys.readouterr().err


def test_vocabularies_that_take_no_words(texts: Path, tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "encoder", vocab_size=500)
    tokenizer = byte_level()
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    tokenizer.save_pretrained(folder)
    with pytest.raises(DisconerError, match=r"cannot be extended. Got a tokenizer of type BPE.*WordPiece"):
        adapt(str(folder), [texts], tmp_path / "adapted", quick(words=5))


@pytest.mark.parametrize("words", [0, -3, "words.txt"])
def test_words_that_cannot_be(words: Any) -> None:
    with pytest.raises(DisconerError, match=r"words .*, expected a number from 1, or the Path of a file"):
        quick(words=words)
