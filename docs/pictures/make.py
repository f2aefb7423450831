"""Draws the pictures of the README and the docs again: `python docs/pictures/make.py`.

The sentences are those of the paper that disconer implements (Li et al., ACL 2021): its introduction, where the
first is made up around the nested mentions, and its case studies.
"""

from __future__ import annotations

from pathlib import Path

from disconer import Document, Entity, Sentence, Token
from disconer.render import render

HERE = Path(__file__).parent


def document(id: str, text: str, *mentions: str) -> Document:
    """`Disorder: Tone … decreased` is a Disorder of two fragments; each part is looked for after the one before."""
    entities = []
    for mention in mentions:
        label, parts = mention.split(": ")
        fragments, position = [], 0
        for part in parts.split(" … "):
            start = text.index(part, position)
            position = start + len(part)
            fragments.append((start, position))
        entities.append(Entity(label, tuple(fragments)))
    return Document(id, text, tuple(entities))


SHAPES = [
    document(
        "nested",
        "He told a Pennsylvania radio station that the storm had passed.",
        "GPE: Pennsylvania",
        "ORG: Pennsylvania radio station",
    ),
    document(
        "three fragments",
        "The mitral valve leaflets are mildly thickened.",
        "Disorder: mitral … leaflets … thickened",
    ),
    document(
        "overlapped and discontinuous",
        "Tone was increased in the left lower extremity and decreased in the left upper extremity.",
        "Disorder: Tone … increased",
        "Disorder: Tone … decreased",
        "Site: left lower extremity",
        "Site: left upper extremity",
    ),
]


def parsed() -> Document:
    """A case study of the paper, with its dependencies."""
    words = ["This", "showed", "a", "mildly", "displaced", "and", "angulated", "inferior", "manubrial", "fracture", "."]
    heads = (1, -1, 9, 4, 9, 6, 4, 9, 9, 1, 1)
    relations = ("nsubj", "root", "det", "advmod", "amod", "cc", "conj", "amod", "amod", "obj", "punct")
    text, tokens = " ".join(words), []
    for word in words:
        start = text.index(word, tokens[-1].end if tokens else 0)
        tokens.append(Token(start, start + len(word)))
    plain = document("case", text, "Disorder: displaced … fracture", "Disorder: angulated … fracture")
    return plain.replace(sentences=(Sentence(0, len(text), tuple(tokens), heads, relations),))


def main() -> None:
    for theme in ("light", "dark"):
        (HERE / f"shapes-{theme}.svg").write_text(render(SHAPES, format="svg", theme=theme), "utf-8")
        arcs = render(parsed(), format="svg", theme=theme, arcs=True)
        (HERE / f"dependencies-{theme}.svg").write_text(arcs, "utf-8")


if __name__ == "__main__":
    main()
