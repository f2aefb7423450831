"""Entities into `doc.ents`, which holds neither gaps nor overlaps."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from disconer.core.ledger import Ledger
from disconer.formats.docbin.groups import Placed

DISCONTINUOUS = "discontinuous entities left out of doc.ents"
OVERLAPPING = "overlapping entities left out of doc.ents"


def fill_ents(doc: Doc, placed: Placed, ledger: Ledger) -> None:
    """Add entities to `doc.ents` where they fit: of one fragment, and clear of all that is there.

    Of those that overlap the one with the highest score goes first, then the longest, then the leftmost. What other
    components put there stays.
    """
    contiguous = [(spans[0], score or 0.0) for spans, score in placed.spans if len(spans) == 1]
    ledger.lost(DISCONTINUOUS, len(placed.spans) - len(contiguous))
    taken = {token.i for token in doc if token.ent_iob_ in ("B", "I")}
    chosen: list[Span] = []
    for span, _ in sorted(contiguous, key=lambda pair: (-pair[1], pair[0].start - pair[0].end, pair[0].start)):
        if taken.isdisjoint(range(span.start, span.end)):
            taken.update(range(span.start, span.end))
            chosen.append(span)
    ledger.lost(OVERLAPPING, len(contiguous) - len(chosen))
    doc.set_ents(chosen, default="unmodified" if doc.has_annotation("ENT_IOB") else "outside")
