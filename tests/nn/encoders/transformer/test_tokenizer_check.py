"""A tokenizer.json is data from someone else: it must take no memory, and no time, without end."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from transformers import DebertaV2Tokenizer

from disconer import DisconerError, Document
from disconer.core.errors import Where
from disconer.nn.encoders.transformer import SubwordTokenizer, load_saved_tokenizer
from disconer.nn.encoders.transformer.regexes import is_simple_regex, may_match_nothing
from disconer.nn.encoders.transformer.tokenizer_check import SECTIONS, check_tokenizer, checked_tokenizer
from disconer.text import segment
from nn.families import TOKENIZERS
from nn.toy import toy_tokenizer

N_IDS = 400
NOWHERE = Where("tokenizer.json")


def content_of(tokenizer: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    return content


def content_with(change: Callable[[Tokenizer], None]) -> dict[str, Any]:
    """The toy tokenizer with another part, as the library writes it."""
    tokenizer = Tokenizer.from_str(toy_tokenizer().backend_tokenizer.to_str())
    change(tokenizer)
    content: dict[str, Any] = json.loads(tokenizer.to_str())
    return content


def normalised_by(*parts: Any) -> dict[str, Any]:
    return content_with(lambda tokenizer: setattr(tokenizer, "normalizer", normalizers.Sequence(list(parts))))


def split_by(*parts: Any) -> dict[str, Any]:
    return content_with(lambda tokenizer: setattr(tokenizer, "pre_tokenizer", pre_tokenizers.Sequence(list(parts))))


def finished_by(*parts: Any) -> dict[str, Any]:
    return content_with(lambda tokenizer: setattr(tokenizer, "post_processor", processors.Sequence(list(parts))))


def changed(section: str, **settings: Any) -> dict[str, Any]:
    content = content_of(toy_tokenizer())
    content[section] = {**(content[section] or {}), **settings}
    return content


def charsmap(replacement: str) -> str:
    """A map of SentencePiece that replaces the letter a, written as its library writes it."""
    trie = [0] * 256
    trie[0] = 1 << 10  # its children are at 1 ^ letter
    trie[1 ^ ord("a")] = ord("a") | 1 << 8 | 1 << 10  # a word of the trie ends here; its value is beside it
    units = b"".join(unit.to_bytes(4, "little") for unit in trie)
    return b64encode(len(units).to_bytes(4, "little") + units + replacement.encode() + b"\0").decode()


def precompiled(replacement: str) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": charsmap(replacement)}


def template(single: str) -> Any:
    return processors.TemplateProcessing(single=single, special_tokens=[("[CLS]", 2), ("[SEP]", 3)])


SPACES = Regex(" {2,}")
GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT_4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT_4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
ALBERT = [normalizers.Replace(mark, '"') for mark in ("``", "''")]
IN_USE = {
    **{family: content_of(tokenizer()) for family, tokenizer in TOKENIZERS.items()},
    "deberta": content_of(DebertaV2Tokenizer(do_lower_case=True, split_by_punct=True)),
    "albert": normalised_by(*ALBERT, normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()),
    "llama": normalised_by(normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")),
    "modernbert": normalised_by(normalizers.NFC()),
    "gpt-4": split_by(pre_tokenizers.Split(Regex(GPT_4), "isolated"), pre_tokenizers.ByteLevel(use_regex=False)),
    "xlm": split_by(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()),
    "roberta": finished_by(processors.ByteLevel(), template("[CLS] $A [SEP]")),
    "no special tokens": content_with(lambda tokenizer: setattr(tokenizer, "post_processor", None)),
}
IN_USE["xlm"]["normalizer"] = {
    "type": "Sequence",
    "normalizers": [
        precompiled("صلى الله عليه وسلم"),
        *normalised_by(normalizers.Replace(SPACES, "▁"))["normalizer"]["normalizers"],
    ],
}


@pytest.mark.parametrize("name", IN_USE)
def test_tokenizers_in_use_are_accepted(name: str) -> None:
    check_tokenizer(IN_USE[name], N_IDS if name != "byte level" else None, NOWHERE)
    Tokenizer.from_str(json.dumps(IN_USE[name])).encode("ﷺ Naïve pain  in  hands")


@pytest.mark.parametrize("section", SECTIONS)
def test_all_known_types_are_those_of_the_library(section: str) -> None:
    known, _ = SECTIONS[section]
    module = {"post_processor": "processors"}.get(section, f"{section}s")
    own = __import__(f"tokenizers.{module}", fromlist=["x"])
    base = {"normalizer": "Normalizer", "pre_tokenizer": "PreTokenizer", "post_processor": "PostProcessor"}.get(
        section, section.capitalize()
    )
    kinds = {
        name for name, kind in vars(own).items() if isinstance(kind, type) and issubclass(kind, getattr(own, base))
    }
    assert kinds - {base, "Sequence"} == set(known)


def nested(part: Any, depth: int) -> Any:
    for _ in range(depth):
        part = {"type": "Sequence", "normalizers": [part]}
    return part


TENFOLD = normalizers.Replace("a", "a" * 10)
REFUSED = {
    "again and again": (normalised_by(*[TENFOLD] * 9), "1,000,000,000 times as long, expected at most 40 times"),
    "one long replacement": (normalised_by(normalizers.Replace("a", "b" * 999)), "999 times"),
    "at every place": (normalised_by(normalizers.Replace(Regex("a*"), "b" * 40)), "41 times"),
    "before every text": (normalised_by(normalizers.Prepend("b" * 99)), "100 times"),
    "by its bytes": (split_by(*[pre_tokenizers.ByteLevel(use_regex=False)] * 6), "192 times"),
    "a map": (changed("normalizer", **precompiled("b" * 41)), "41 times"),
    "in sequences": (changed("normalizer", **nested({"type": "Prepend", "prepend": "b" * 99}, 9)), "100 times"),
    "a setting": (normalised_by(normalizers.Replace("a" * 1001, "b" * 1001)), "setting of 1,001 characters"),
    "many parts": (normalised_by(*[normalizers.Lowercase()] * 33), "a normalizer of 33 parts, expected at most 32"),
    "an unknown normaliser": (changed("normalizer", type="Evil"), "the normalizer 'Evil', expected one of Bert"),
    "an unknown model": (changed("model", type="Evil"), "the model 'Evil', expected one of BPE, Uni"),
    "a slow regex": (split_by(pre_tokenizers.Split(Regex("(a+)+$"), "isolated")), "the regex '(a+)+$' in its pre_tok"),
    "many special tokens": (finished_by(template("[CLS] " * 17 + "$A")), "adds 17 subwords to every text"),
    "the text again": (finished_by(template("$A $A")), "adds 17 subwords"),
    "one of many ids": (
        changed(
            "post_processor",
            type="TemplateProcessing",
            single=[{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            special_tokens={"x": {"id": "x", "ids": [2] * 10**5, "tokens": ["x"] * 10**5}},
        ),
        "adds 100,000 subwords",
    ),
    "long words": (changed("model", max_input_chars_per_word=10**9), "words of up to 1,000,000,000 characters"),
    "ids": (changed("model", vocab={"[UNK]": 1, "a": 10**9}), "a subword of id 1,000,000,000, expected ids below 400"),
    "as many ids": (changed("model", type="Unigram", vocab=[["a", 0.0]] * 401), "a subword of id 400"),
    "an added token": (content_with(lambda tokenizer: tokenizer.add_tokens(["a" * 1001])), "added token of 1,001"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_memory_or_time_without_end_is_refused(name: str, tmp_path: Path) -> None:
    content, message = REFUSED[name]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DisconerError, match="This tokenizer is not safe to use") as caught:
        checked_tokenizer(path, N_IDS)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"model": null}',
        '{"model": {"type": "BPE", "vocab": {"a": "b"}}}',
        '{"normalizer": {}, "model": {"type": "BPE", "vocab": {}}}',
        '{"normalizer": [], "model": {"type": "BPE", "vocab": {}}}',
        '{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "*"}, "model": {"type": "BPE", "vocab": {}}}',
        '{"model": {}, "model": {"type": "BPE", "vocab": {}}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_tokenizer_is_damaged(content: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(DisconerError, match="The tokenizer of this model is missing or damaged"):
        load_saved_tokenizer(tmp_path, {}, padding=0)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "tokenizer.json").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(DisconerError, match="a file of 1,099,511,627,776 bytes, expected at most 67,108,864"):
        load_saved_tokenizer(tmp_path, {}, padding=0)


def test_special_tokens_and_padding_are_in_the_vocabulary(tmp_path: Path) -> None:
    toy_tokenizer().backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    n_ids = len(toy_tokenizer())
    assert load_saved_tokenizer(tmp_path, {"vocab_size": n_ids}, padding=0).padding == 0
    with pytest.raises(DisconerError, match="a subword of id 1,000,000,000"):
        load_saved_tokenizer(tmp_path, {"vocab_size": n_ids}, padding=10**9)
    more = content_with(lambda tokenizer: tokenizer.add_tokens(["more"]))
    (tmp_path / "tokenizer.json").write_text(json.dumps(more))
    with pytest.raises(DisconerError, match=f"a subword of id {n_ids}, expected ids below {n_ids}"):
        load_saved_tokenizer(tmp_path, {"vocab_size": n_ids}, padding=0)
    more = content_of(toy_tokenizer()) | {
        "post_processor": {"type": "BertProcessing", "sep": ["x", 999], "cls": ["x", 2]}
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(more))
    with pytest.raises(DisconerError, match="a subword of id 999"):
        load_saved_tokenizer(tmp_path, {"vocab_size": n_ids}, padding=0)


def test_padding_and_truncation_of_the_file_are_not_used(tmp_path: Path) -> None:
    def pad(tokenizer: Tokenizer) -> None:
        tokenizer.enable_padding(length=10**12)
        tokenizer.enable_truncation(1)

    (tmp_path / "tokenizer.json").write_text(json.dumps(content_with(pad)))
    text = "some pain"
    reader, plain = load_saved_tokenizer(tmp_path, {}, padding=0), SubwordTokenizer(toy_tokenizer())
    (own,), (expected,) = (one(text, segment(Document("d", text)).sentences) for one in (reader, plain))
    assert own.ids.tolist() == expected.ids.tolist()


@pytest.mark.parametrize(
    "content",
    [
        split_by(pre_tokenizers.FixedLength(0)),
        changed("model", unk_token="none", vocab={"b": 0}),
        changed("normalizer", type="Precompiled", precompiled_charsmap=b64encode(b"\x04\0\0\0\0\xff\xff\xff").decode()),
    ],
)
def test_where_the_library_fails_the_message_is_ours_and_quotes_no_text(
    content: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(DisconerError, match=r"tokenizer of this model (failed on a text|is missing or damaged)"):
        load_saved_tokenizer(tmp_path, {}, padding=0)


def test_a_text_that_fails_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(changed("model", unk_token="none", vocab={"a": 0})))
    reader = load_saved_tokenizer(tmp_path, {}, padding=0)
    with pytest.raises(DisconerError, match=r"failed on a text. Got Exception\.") as caught:
        reader("Jane Doe", segment(Document("d", "Jane Doe")).sentences)
    assert "Jane" not in str(caught.value)


SIMPLE = [
    GPT_2,
    GPT_4,
    GPT_4O,
    POSSESSIVE,
    CLIP,
    BLOOM,
    " {2,}",
    r"\s{2,}|[\n\r\t]",
    "^▁+$",
    " +▁",
    r"\bx\b",
    r"[\[\]]",
]
INVOLVED = [
    "(a+)+$", "(a|aa)*b", "(?:a?){9}b", r"(a)\1", r"(?<x>a\g<x>?)", "a*a*a*b", "a?" * 30 + "a" * 30, "(a|a)" * 30,
    "x+*", "x{2}{3}", "x{2}+", "x+?+", "x{1,99999}", "(?{x})", "(*FAIL)", "(a+)?+*", "((a{9}){9}){9}", "[a", "a" * 1001,
]  # fmt: skip


@pytest.mark.parametrize("pattern", SIMPLE)
def test_simple_regexes(pattern: str) -> None:
    assert is_simple_regex(pattern)
    assert not may_match_nothing(pattern) or "(" in pattern


@pytest.mark.parametrize("pattern", INVOLVED)
def test_regexes_that_may_take_long(pattern: str) -> None:
    assert not is_simple_regex(pattern)


@pytest.mark.parametrize("pattern", ["", "a*", "a?", "a|", "a{0,9}", r"\b", "^", "$", "(?=a)", "(a)", r"a|\b", "[ac]*"])
def test_regexes_that_match_nothing(pattern: str) -> None:
    assert may_match_nothing(pattern)
    twice = normalised_by(normalizers.Replace(Regex(pattern), "x"))
    assert len(Tokenizer.from_str(json.dumps(twice)).normalizer.normalize_str("bb")) >= 2
