"""Pipelines for tests of the spaCy component: a recogniser that finds what it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

import spacy
from annotated import entity
from disconer import Document, Entity
from disconer.spacy.component import DisconerComponent, make_component

SHARED = spacy.blank("en")  # for tests that make a thousand Docs and pipelines: a new one takes long
TEXT = "severe pain in knees and hands"
Finder = Callable[[str], Iterable[Entity]]


class Stub:
    """Stands in for a `Recognizer`. Keeps the documents that it was given, batch by batch."""

    labels = ("ADR", "Drug")
    device = "cpu"
    splitter = "lines"
    model = SimpleNamespace(config=SimpleNamespace(data=SimpleNamespace(tokenizer="words")))

    def __init__(self, find: Finder) -> None:
        self.find = find
        self.batches: list[list[Document]] = []

    def annotate(self, documents: list[Document]) -> Iterator[Document]:
        self.batches.append(documents)
        return (document.replace(entities=tuple(self.find(document.text))) for document in documents)


def mentions(*wanted: str, scores: Iterable[float] = ()) -> Finder:
    """Find `ADR: pain … hands` and the like, with ids T1, T2, … and scores 0.9, 0.8, …, unless others are given."""
    chosen = list(scores) or [0.9 - 0.1 * number for number in range(len(wanted))]

    def find(text: str) -> Iterable[Entity]:
        for number, (mention, score) in enumerate(zip(wanted, chosen, strict=True), 1):
            found = entity(mention, text)
            yield Entity(found.label, found.fragments, f"T{number}", score)

    return find


def pipeline(find: Finder, **config: Any) -> tuple[Language, Stub]:
    nlp = spacy.blank("en")
    component = nlp.add_pipe("disconer", config=config)
    component.recognizer = stub = Stub(find)
    return nlp, stub


def component(found: tuple[Entity, ...], **config: Any) -> DisconerComponent:
    """A component without a pipeline, in a setting that is spelled out, which finds the same in every text."""
    made = make_component(SHARED, "disconer", model=None, device=None, spans_key="disconer", **config)
    made.recognizer = Stub(lambda text: found)
    return made


@st.composite
def docs(draw: st.DrawFn) -> Doc:
    """A Doc of any text in any tokens: custom tokenisers do as they like."""
    words = draw(st.lists(st.text(st.sampled_from("ab1.-é😀\n "), min_size=1, max_size=4), min_size=1, max_size=8))
    spaces = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    return Doc(SHARED.vocab, words=words, spaces=spaces)
