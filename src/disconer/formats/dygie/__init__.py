"""DyGIE++'s JSON lines (Wadden et al. 2019), and sodner's use of them (Li et al. 2021): one document a line.

{"doc_key": "d1", "sentences": [["Severe", "joint", "and", "neck", "pain"]], "ner": [[[0, 1, "ADR"], [4, 4, "ADR"]]],
 "relations": [[[0, 1, 4, 4, "Combined"], [4, 4, 0, 1, "Combined"]]], "dep": [{"nodes": [[4], [4], …]}]}

Positions count tokens from the start of the document, inclusive. Plain DyGIE++ knows continuous entities only;
sodner stores fragments and their relations (`fragments`) and the dependency graph (`trees`). All
else (clusters, events, other relations, graphs that are no trees) goes to `extras["dygie"]` and comes back.
"""

from __future__ import annotations

from disconer.formats.dygie.records import read_member, write_stream
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import leading_keys

SUFFIXES = (".jsonl", ".json", ".dygie")


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "sentences" in keys and "text" not in keys and bool(keys & {"doc_key", "ner"})


FORMAT = Format(
    name="dygie",
    about="DyGIE++ and sodner: JSON lines, document-level token positions, fragments with Combined relations",
    holds="nearly all entities of a sentence, relations, trees",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, read_member),
    write=stream_writer(write_stream),
)
