"""Write sentences of patients' complaints whose parts share words, as documents with their entities.

    python recipes/patient-posts/complaints.py OUT.jsonl

PsyTAR has 339 discontinuous entities to learn from, nearly all of them with a shared first or last word. In none of its
sentences do two complaints share the place where they are felt: in "numbness & tingling on my right hand" only the
second has it. Here they do: "cramps and burning in my calves" has "cramps … in my calves" and "burning in my calves".
Where a complaint has no place, it does not get one: "nausea and ringing in my ears" has "nausea".

The sentences are made from the word lists below, always the same ones. Knees and stiffness are not among the words, so
that "pain and stiffness in my knees" shows what was learned.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from disconer import write
from disconer.core.types import Document, Entity, Fragment


def words(text: str) -> list[str]:
    return text.split()


FELT = words("pain cramps burning numbness tingling swelling soreness aches tightness spasms weakness itching pressure")
GENERAL = words("nausea dizziness insomnia fatigue anxiety headaches sweating constipation diarrhea irritability")
PLACES = words("legs hands feet arms shoulders neck hips fingers toes chest jaw ankles wrists calves thighs elbows")
STRONG = ("severe", "terrible", "constant", "bad", "awful", "mild", "sharp", "intense")
KINDS = ("muscle", "joint", "back", "neck", "chest", "stomach", "abdominal")
BEFORE = ("I had", "I have", "Caused", "I still get", "After a week I had", "Since I started it I have had", "")
AFTER = (".", ", which went away.", " every night.", " after two days.", ", so I stopped taking it.", "!")
LABEL = "ADR"
N_SENTENCES = 400
SENTENCES_PER_POST = 3

Piece = tuple[str, frozenset[int]]  # text, and the numbers of the entities that it belongs to


def piece(text: str, *entities: int) -> Piece:
    return text, frozenset(entities)


def shared_place(draw: random.Random) -> list[Piece]:
    """Like "severe pain and numbness in my legs"."""
    first, second = draw.sample(FELT, 2)
    strong = [piece(draw.choice(STRONG), 0)] if draw.random() < 0.5 else []
    where = (
        f"{draw.choice(('in', 'in', 'in', 'around'))} {draw.choice(('my', 'my', 'both', 'the'))} {draw.choice(PLACES)}"
    )
    return [
        *strong,
        piece(first, 0),
        piece(draw.choice(("and", "and", "or", "&"))),
        piece(second, 1),
        piece(where, 0, 1),
    ]


def three_with_a_place(draw: random.Random) -> list[Piece]:
    """pain, burning and cramps in my feet"""
    first, second, third = draw.sample(FELT, 3)
    where = piece(f"in my {draw.choice(PLACES)}", 0, 1, 2)
    return [piece(first, 0), piece(","), piece(second, 1), piece("and"), piece(third, 2), where]


def two_places(draw: random.Random) -> list[Piece]:
    """Like "tingling in my hands and feet"."""
    one, other = draw.sample(PLACES, 2)
    return [piece(f"{draw.choice(FELT)} in my", 0, 1), piece(one, 0), piece("and"), piece(other, 1)]


def shared_kind(draw: random.Random) -> list[Piece]:
    """Like "muscle and joint pain"."""
    one, other = draw.sample(KINDS, 2)
    return [piece(one, 0), piece("and"), piece(other, 1), piece(draw.choice(("pain", "pain", "cramps", "aches")), 0, 1)]


def one_without_a_place(draw: random.Random) -> list[Piece]:
    """Like "nausea and ringing in my ears"."""
    felt = draw.choice(("ringing in my ears", f"{draw.choice(FELT)} in my {draw.choice(PLACES)}"))
    return [piece(draw.choice(GENERAL), 0), piece("and"), piece(felt, 1)]


FORMS = (shared_place, shared_place, shared_place, three_with_a_place, two_places, shared_kind, one_without_a_place)


def sentence(pieces: Sequence[Piece], before: str, after: str) -> Document:
    """The pieces in a sentence; neighbouring pieces of an entity are one fragment."""
    text = before
    fragments: dict[int, list[Fragment]] = {}
    for words, entities in pieces:
        text += " " if text and words != "," else ""
        start = len(text)
        text += words if text else words.capitalize()
        for entity in entities:
            own = fragments.setdefault(entity, [])
            joins = bool(own) and own[-1].end == start - 1
            own[-1:] = [Fragment(own[-1].start, len(text))] if joins else [*own[-1:], Fragment(start, len(text))]
    return Document("sentence", text + after, entities=tuple(Entity(LABEL, tuple(own)) for own in fragments.values()))


def posts() -> Iterator[Document]:
    """Several sentences each, one per line, as in PsyTAR."""
    draw = random.Random(1)
    made = [sentence(draw.choice(FORMS)(draw), draw.choice(BEFORE), draw.choice(AFTER)) for _ in range(N_SENTENCES)]
    for first in range(0, N_SENTENCES, SENTENCES_PER_POST):
        yield post(f"complaints.{first // SENTENCES_PER_POST + 1}", made[first : first + SENTENCES_PER_POST])


def post(id: str, sentences: Sequence[Document]) -> Document:
    text, entities = "", []
    for one in sentences:
        start = len(text)
        entities += [Entity(entity.label, tuple(moved(entity.fragments, start))) for entity in one.entities]
        text += one.text + "\n"
    return Document(id, text.rstrip("\n"), entities=tuple(entities))


def moved(fragments: Sequence[Fragment], by: int) -> Iterator[Fragment]:
    return (Fragment(fragment.start + by, fragment.end + by) for fragment in fragments)


if __name__ == "__main__":
    write(list(posts()), Path(sys.argv[1]))
