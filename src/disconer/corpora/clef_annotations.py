"""The three ways in which the ShARe corpus writes a disorder mention.

00098-016139-DISCHARGE_SUMMARY.txt||Disease_Disorder||C0221755||1141||1148||1192||1198     2013, SemEval-2014
00098-016139.text|1141-1148,1192-1198|C0221755|no|*NULL|…                                  2014, SemEval-2015
<annotation><mention id="…"/><span start="1141" end="1148"/>…<spannedText>…</annotation>   Knowtator
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.corpora.clef_files import KNOWTATOR, number_of
from disconer.formats.source import Member
from disconer.formats.xml import parse_xml

_TYPE = "Disease_Disorder"
_SPANS = re.compile(r"\d+-\d+(?:,\d+-\d+)*")
_OFFSETS = re.compile(r"\d+")


class Mention(NamedTuple):
    """Character ranges as the file has them. `surface` is None where the file says none that can be compared."""

    pairs: list[tuple[int, int]]
    line: int | None
    surface: str | None


def mentions(member: Member, ledger: Ledger) -> Iterator[Mention]:
    """The mentions of one note."""
    if member.name.endswith(KNOWTATOR):
        for annotation in parse_xml(member.read(), member.origin).iter("annotation"):
            mention = _from_knowtator(annotation)
            if mention is None:
                ledger.fault(_not_a_mention(Where(member.origin), "an <annotation> without <span start=… end=…>"))
            else:
                yield mention
        return
    for number, line in member.lines():
        if line.strip():
            mention = _from_pipe(line.strip(), number, number_of(member.name.rpartition("/")[2]))
            if mention is None:
                ledger.fault(_not_a_mention(Where(member.origin, number), excerpt(line)))
            else:
                yield mention


def _from_pipe(line: str, number: int, note: str) -> Mention | None:
    fields = line.split("|")
    if number_of(fields[0]) != note:
        return None
    if len(fields) > 1 and _SPANS.fullmatch(fields[1]):
        return _mention(_OFFSETS.findall(fields[1]), number, None)
    fields = line.split("||")
    return _mention(fields[3:], number, None) if len(fields) > 3 and fields[1] == _TYPE else None


def _from_knowtator(annotation: Element) -> Mention | None:
    spans = annotation.findall("span")
    surface = annotation.findtext("spannedText") if len(spans) == 1 else None
    return _mention([span.get(end, "") for span in spans for end in ("start", "end")], None, surface)


def _mention(offsets: list[str], line: int | None, surface: str | None) -> Mention | None:
    if not offsets or len(offsets) % 2 or not all(_OFFSETS.fullmatch(offset) for offset in offsets):
        return None
    numbers = [int(offset) for offset in offsets]
    return Mention(list(zip(numbers[::2], numbers[1::2], strict=True)), line, surface)


def _not_a_mention(where: Where, got: str) -> BadInput:
    return BadInput(
        "bad-syntax",
        "This is not a mention as the ShARe corpus has them",
        where=where,
        got=got,
        expected=f"note||{_TYPE}||CUI||start||end… or note|start-end,start-end|CUI|… with the name of its note",
        fix="Check that the file is the official one, or leave such lines out with --skip-bad.",
    )
