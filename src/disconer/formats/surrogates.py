"""Halves of surrogate pairs, which JSON can escape but UTF-8 cannot hold."""

from __future__ import annotations

import re
from dataclasses import replace

from disconer.core.types import Document, Sentence

_HALF_PAIR = re.compile("[\ud800-\udfff]")


def without_halves(document: Document) -> tuple[Document, int]:
    """The document with U+FFFD for each half of a pair, so that every offset stays right; and how many there were."""
    sentences = document.sentences or ()
    strings = [document.id, document.text]
    strings += [text for entity in document.entities for text in (entity.label, entity.id or "")]
    strings += [relation for sentence in sentences for relation in sentence.relations or ()]
    n_halves = sum(len(_HALF_PAIR.findall(string)) for string in strings)
    if not n_halves:
        return document, 0
    cleaned = document.replace(
        id=_clean(document.id),
        text=_clean(document.text),
        entities=tuple(
            replace(entity, label=_clean(entity.label), id=entity.id and _clean(entity.id))
            for entity in document.entities
        ),
        sentences=document.sentences and tuple(map(_clean_relations, sentences)),
    )
    return cleaned, n_halves


def _clean(string: str) -> str:
    return _HALF_PAIR.sub("\ufffd", string)


def _clean_relations(sentence: Sentence) -> Sentence:
    return replace(sentence, relations=sentence.relations and tuple(map(_clean, sentence.relations)))
