"""The rule splitter for clinical and biomedical prose."""

from __future__ import annotations

from disconer.text.line_breaks import units
from disconer.text.stops import sentence_ends


def rules(text: str) -> list[tuple[int, int]]:
    """A sentence ends at the end of a unit of lines, and within one at a stop that is not an abbreviation's.

    >>> text = "Took 5 mg p.o. b.i.d. for Dr. Smith. No AS. No AR."
    >>> [text[start:end] for start, end in rules(text)]
    ['Took 5 mg p.o. b.i.d. for Dr. Smith.', 'No AS.', 'No AR.']
    """
    sentences = []
    for start, end in units(text):
        for stop in sentence_ends(text, start, end):
            sentences.append((start, stop))
            start = stop
            while text[start].isspace():
                start += 1
        sentences.append((start, end))
    return sentences
