"""Random documents for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from disconer.core.types import Document, Entity
from disconer.text import SPLITTERS, TOKENIZERS, segment

# Any Unicode text but lone surrogates, with the characters that break offsets well represented.
characters = st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab 1.-\n\r\t\ufeff\u0301\u200d😀\u00a0\u2028")
texts = st.text(characters, max_size=60)
labels = st.sampled_from(["ADR", "Drug", "Cell_line"])


@st.composite
def entities(draw: st.DrawFn, text: str, number: int) -> Entity | None:
    """An entity of `text` with up to three fragments, none of them only whitespace."""
    pairs = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        if not text[start:end].isspace():
            pairs.append((start, end))
    score = draw(st.none() | st.floats(0, 1))
    return Entity(draw(labels), tuple(pairs), f"T{number}", score) if pairs else None


@st.composite
def documents(draw: st.DrawFn, text: st.SearchStrategy[str] = texts) -> Document:
    """A document with character-level entities and no sentences."""
    content = draw(text)
    found = [draw(entities(content, number)) for number in range(1, draw(st.integers(0, 5)) + 1)] if content else []
    return Document(draw(st.sampled_from(["d1", "a/b", "x y"])), content, tuple(e for e in found if e is not None))


@st.composite
def tokenised_documents(draw: st.DrawFn) -> Document:
    """A document of words joined by single spaces, one sentence a line, its entities on token boundaries."""
    word = st.text(st.sampled_from("abcXYZé19"), min_size=1, max_size=5)
    sentences = draw(st.lists(st.lists(word, min_size=1, max_size=8), min_size=1, max_size=3))
    text = "\n".join(" ".join(words) for words in sentences)
    document = segment(Document("d1", text), SPLITTERS["lines"], TOKENIZERS["whitespace"])
    found = []
    for sentence in document.sentences or ():
        n_tokens = len(sentence.tokens)
        for _ in range(draw(st.integers(0, 3))):
            pairs = []
            for _ in range(draw(st.integers(1, 3))):
                first = draw(st.integers(0, n_tokens - 1))
                last = draw(st.integers(first, n_tokens - 1))
                pairs.append((sentence.tokens[first].start, sentence.tokens[last].end))
            found.append(Entity(draw(labels), tuple(pairs), f"T{len(found) + 1}"))
    return document.replace(entities=tuple(found))
