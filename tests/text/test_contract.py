"""What every splitter and every tokenizer owes, on any text."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disconer import Document
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.text.alignment import ZERO_WIDTH

# Prose is made of these: line ends of every kind, spaces that are none, marks that stand on letters, stops.
BREAKS = ["\r\n", "\n\n", "\n", "\r", "\t", "\f", "\v", "\x1c", "\x1f", "\x85", "\u2028", "\u2029"]
SPACES = [" ", "\u00a0", "\u3000", "\ufeff", "\u200b", "\u200d"]
WORDS = ["e\u0301", "😀", "👩\u200d⚕️", "\u202eabc\u202c", "No AR", "word", "98.6", "MEDICATIONS:", "mg"]
STOPS = [". ", "...", "…", "? ", '."', ".) ", ".[12] ", "。", "1. ", "- ", "a) ", "Dr. ", "p.o. ", "A. ", "pain.The "]
AWKWARD = BREAKS + SPACES + WORDS + STOPS
texts = st.lists(st.sampled_from(AWKWARD) | st.text(max_size=5), max_size=30).map("".join)


def without_whitespace(text: str) -> str:
    return "".join(text.split())


def seen(text: str) -> str:
    """The text without whitespace and what has no width."""
    return re.sub(rf"[\s{ZERO_WIDTH}]", "", text)


@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
@given(text=texts)
@example(text="")
@example(text=" \x1c\x85\u2028 ")
@example(text="\ufeffa.\r\nb")
def test_sentences_lie_in_order_cover_all_but_whitespace_and_have_none_at_an_end(splitter, text: str) -> None:
    position, kept = 0, ""
    for start, end in splitter(text):
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        kept += text[start:end]
        position = end
    assert text[position:].strip() == ""
    assert without_whitespace(kept) == without_whitespace(text)


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
@given(text=texts)
def test_tokens_lie_in_their_sentences_and_cover_all_that_is_seen(splitter, tokenizer, text: str) -> None:
    document = segment(Document("d", text), splitter, tokenizer)
    tokens = [token for sentence in document.sentences for token in sentence.tokens]
    assert all(not any(map(str.isspace, text[start:end])) for start, end in tokens)
    assert seen("".join(text[start:end] for start, end in tokens)) == seen(text)
    for sentence in document.sentences:
        first, last = sentence.tokens[0], sentence.tokens[-1]
        assert sentence.start <= first.start < last.end <= sentence.end
        assert not seen(text[sentence.start : first.start] + text[last.end : sentence.end])
    if not re.search(f"[{ZERO_WIDTH}]", text):
        assert "".join(text[start:end] for start, end in tokens) == without_whitespace(text)


def test_whitespace_means_the_same_everywhere() -> None:
    """Splitters strip, tokenizers match \\S, documents ask isspace: the contract needs the three to agree."""
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    assert [c for c in every if c.isspace()] == [c for c in every if re.match(r"\s", c)]
    assert [c for c in every if c.isspace()] == [c for c in every if not c.strip()]


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        ("words", ["IL", "-", "2", "/", "µg", "98", ".", "6", "°", "C", "_", "naïve", "don", "'", "t"]),
        ("whitespace", ["IL-2/µg", "98.6°C_", "naïve", "don't"]),
    ],
)
def test_tokenizers(tokenizer: str, words: list[str]) -> None:
    text = "IL-2/µg 98.6°C_\u00a0naïve don't"
    assert [text[start:end] for start, end in TOKENIZERS[tokenizer](text, 0, len(text))] == words


def test_tokenizers_stay_within_their_stretch() -> None:
    assert TOKENIZERS["words"]("abcdef", 2, 4) == ((2, 4),)


def test_segment_splits_by_rules_and_keeps_sentences_that_are_there() -> None:
    document = segment(Document("d", "No AS. No AR."))
    assert [(sentence.start, sentence.end) for sentence in document.sentences] == [(0, 6), (7, 13)]
    assert segment(document, SPLITTERS["lines"]) is document
