"""Give a document its sentences and tokens."""

from __future__ import annotations

from disconer.core.types import Document, Sentence
from disconer.text.sentences import SPLITTERS, Splitter
from disconer.text.tokens import TOKENIZERS, Tokenizer


def segment(
    document: Document,
    splitter: Splitter = SPLITTERS["rules"],
    tokenizer: Tokenizer = TOKENIZERS["words"],
) -> Document:
    """A copy with sentences and tokens, or the document itself where it has them already."""
    if document.sentences is not None:
        return document
    text = document.text
    sentences = tuple(Sentence(start, end, tokenizer(text, start, end)) for start, end in splitter(text))
    return document.replace(sentences=sentences)
