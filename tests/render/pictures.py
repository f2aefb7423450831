"""The documents of the golden pictures; run this file to draw them anew, and look at each before you commit it.

The sentences are those of the paper's introduction (the first is made up around its nested mentions) and of its case
studies, and some that are hard to draw.
"""

from __future__ import annotations

from pathlib import Path

from annotated import annotated
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document
from disconer.render import render

GOLDEN = Path(__file__).parent / "golden"

NESTED = annotated(
    "GPE: Pennsylvania",
    "ORG: Pennsylvania radio station",
    id="nested",
    text="He told a Pennsylvania radio station that the storm had passed.",
)
THREE_FRAGMENTS = annotated(
    "Disorder: mitral … leaflets … thickened",
    id="three-fragments",
    text="The mitral valve leaflets are mildly thickened.",
)
CROSSING = annotated(
    "Disorder: Tone … increased",
    "Disorder: Tone … decreased",
    "Site: left lower extremity",
    "Site: left upper extremity",
    id="crossing",
    text="Tone was increased in the left lower extremity and decreased in the left upper extremity.",
)
ACROSS_LINES = annotated(
    "ADR: pain … knees",
    "ADR: pain … hands",
    "ADR: swelling … knees",
    "ADR: swelling … hands",
    "Drug: Lipitor",
    id="across-lines",
    text="Severe pain and swelling\n\nof knees and hands\nafter Lipitor.",
)
SCRIPTS = annotated(
    "A: עולם טוב … hello 12",
    "B: מאוד",
    "C: 本語",
    "D: 👩\u200d👩\u200d👧",
    "E: \u0301",
    "F: با بالع",
    id="scripts",
    text="שלום עולם טוב מאוד hello 12 mg\n日本語 👩\u200d👩\u200d👧 cafe\u0301!\nمرحبا بالعالم",
)
HOSTILE = annotated(
    "<b>&\"': alert",
    "</style><script>alert(3)</script>: script … quotes",
    id="<i id='x'>",
    text='<script>alert(1)</script> & "quotes" </title></svg>\x00\x1b\ud800\ufffe',
)


def _parsed() -> Document:
    document = annotated(
        "Disorder: displaced … fracture",
        "Disorder: angulated … fracture",
        id="arcs",
        text="This showed a mildly displaced and angulated inferior manubrial fracture.",
    )
    words = ("This", "showed", "a", "mildly", "displaced", "and", "angulated", "inferior", "manubrial", "fracture", ".")
    tokens, position = [], 0
    for word in words:
        start = document.text.index(word, position)
        position = start + len(word)
        tokens.append(Token(start, position))
    heads = (1, -1, 9, 4, 9, 6, 4, 9, 9, 1, 1)
    relations = ("nsubj", "root", "det", "advmod", "amod", "cc", "conj", "amod", "amod", "obj", "punct")
    return document.replace(sentences=(Sentence(0, len(document.text), tuple(tokens), heads, relations),))


PARSED = _parsed()
PREDICTED = annotated(
    "ADR: pain … knees", "ADR: pain and swelling", "Lab: Lipitor", id=ACROSS_LINES.id, text=ACROSS_LINES.text
)
DOCUMENTS = [NESTED, THREE_FRAGMENTS, CROSSING, ACROSS_LINES, SCRIPTS]


def pictures() -> dict[str, str]:
    """The golden pictures by name. One holds the styles of both themes, the others those of the light one."""
    drawn = {document.id: render(document, format="svg", theme="light") for document in DOCUMENTS}
    return drawn | {
        "all": render(DOCUMENTS, format="svg"),
        "arcs": render(PARSED, format="svg", theme="light", arcs=True),
        "compared": render(PREDICTED, ACROSS_LINES, format="svg", theme="light"),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (GOLDEN / f"{name}.svg").write_text(picture, "utf-8")
