"""Documents for tests of evaluation: written in words, or random gold with random predictions of the same text."""

from __future__ import annotations

from hypothesis import strategies as st

from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, Fragment

TEXT = "severe pain in knees and hands\nmild itching of left and right arm\n"


def entity(mention: str, text: str = TEXT, score: float | None = None) -> Entity:
    """`ADR: pain … hands` is an ADR of two fragments; each part is looked for after the one before."""
    label, parts = mention.split(": ")
    fragments, position = [], 0
    for part in parts.split(" … "):
        start = text.index(part, position)
        position = start + len(part)
        fragments.append(Fragment(start, position))
    return Entity(label, tuple(fragments), score=score)


def annotated(*mentions: str, id: str = "d", text: str = TEXT) -> Document:
    return Document(id, text, tuple(entity(mention, text) for mention in mentions))


LETTERS = "abcdefgh"
SENTENCES = (Sentence(0, 4, ()), Sentence(4, 8, ()))  # they touch, as do entities: every comparison of ends matters


@st.composite
def small_entities(draw: st.DrawFn) -> Entity:
    """An entity over few characters and labels, so that two of them often agree in part."""
    places = draw(st.lists(st.integers(0, len(LETTERS) - 1), min_size=1, max_size=5, unique=True))
    return Entity(draw(st.sampled_from("XY")), tuple(Fragment(place, place + 1) for place in places))


@st.composite
def small_pairs(draw: st.DrawFn, max_size: int = 6) -> tuple[Document, Document]:
    """Gold and predictions that share some entities, repeat some, and often come close."""
    gold = draw(st.lists(small_entities(), max_size=max_size))
    kept = [one for one in gold if draw(st.booleans())]
    invented = draw(st.lists(small_entities(), max_size=max_size))
    return Document("d", LETTERS, tuple(gold), SENTENCES), Document("d", LETTERS, tuple(kept + invented))
