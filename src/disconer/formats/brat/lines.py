"""The lines of a brat .ann file: what each says, how it is written, and the record of a file in `extras`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.types import Document, Fragment, joined_text

TEXT_BOUND = "T"  # the first character of every line that marks text
EQUIVALENCE = "*"  # the only kind of line without an id

_ID = re.compile(r"T[0-9]{1,15}\S*")
_TEXT_BOUND = re.compile(r"(T[0-9]{1,15}\S*)\t(\S+) ([0-9]{1,15}) ([0-9]{1,15})((?:;[0-9]{1,15} [0-9]{1,15})*)\t(.*)")
_LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # all that any tool may take for a line break
_WHITESPACE = re.compile(r"\s+")


class TextBound(NamedTuple):
    """What a T line says."""

    id: str
    label: str
    pairs: list[tuple[int, int]]
    surface: str


def parse_text_bound(line: str) -> TextBound | None:
    r"""The parts of a T line, or None if it is not one.

    >>> parse_text_bound("T1\tADR 0 4;15 20\tpain knees")
    TextBound(id='T1', label='ADR', pairs=[(0, 4), (15, 20)], surface='pain knees')
    """
    match = _TEXT_BOUND.fullmatch(line)
    if match is None:
        return None
    id, label, start, end, further, surface = match.groups()
    pairs = [(int(start), int(end))]
    if further:
        for pair in further[1:].split(";"):
            start, end = pair.split(" ")
            pairs.append((int(start), int(end)))
    return TextBound(id, label, pairs, surface)


def text_bound_line(id: str, label: str, fragments: Sequence[Fragment], text: str) -> str:
    """The T line of an entity, as brat writes it: a mention that crosses a line break has a fragment on each line."""
    surface = joined_text(text, fragments)
    if surface.isprintable() and len(fragments) == 1:  # nearly always; reading makes this line for every entity
        start, end = fragments[0]
        return f"{id}\t{label} {start} {end}\t{surface}"
    if _LINE_BREAK.search(surface):
        fragments = [piece for fragment in fragments for piece in _pieces(fragment, text)]
        surface = _LINE_BREAK.sub(" ", joined_text(text, fragments))
    offsets = ";".join([f"{start} {end}" for start, end in fragments])
    return f"{id}\t{label} {offsets}\t{surface}"


def _pieces(fragment: Fragment, text: str) -> Iterator[Fragment]:
    """The parts of a fragment between line breaks. A break at its edge stays, or reading would not give it back."""
    start, end = fragment
    content = text[start:end]
    first, last = end - len(content.lstrip()), start + len(content.rstrip())
    for gap in _WHITESPACE.finditer(text, first, last):
        if _LINE_BREAK.search(gap.group()):
            yield Fragment(start, gap.start())
            start = gap.end()
    yield Fragment(start, end)


def brat_label(label: str) -> str:
    """A label as brat can hold it, without whitespace."""
    return "_".join(label.split()) or "_"


def is_text_bound_id(id: str) -> bool:
    return _ID.fullmatch(id) is not None


def own_id(line: str) -> str:
    return line.partition("\t")[0]


def highest_number(lines: list[str], kind: str = TEXT_BOUND) -> int:
    """The highest number of any id of this kind that is defined or mentioned in the lines, 0 if there is none."""
    number = re.compile(rf"{kind}([0-9]{{1,15}})")
    return max((int(digits) for line in lines for digits in number.findall(line)), default=0)


def references(line: str) -> list[str]:
    r"""The ids that a line other than a T line refers to.

    >>> references("E1\tAdverse_event:T5 Theme:T1"), references("#2\tAnnotatorNotes T3\tnot T4")
    (['T5', 'T1'], ['T3'])
    """
    words = line.partition("\t")[2].partition("\t")[0].split()
    match line[:1]:
        case "E":
            return [word.rpartition(":")[2] for word in words]
        case "R":
            return [word.rpartition(":")[2] for word in words[1:]]
        case "A" | "M" | "N" | "#":
            return words[1:2]
        case "*":
            return words[1:]
    return []


def without_references(lines: list[str], gone: set[str]) -> tuple[list[str], int]:
    """The lines without those about removed ids, and how many those were.

    A line goes with what it refers to, and takes along what refers to it; an equivalence (`*`) only
    loses the member, as long as two are left.
    """
    gone, changed = set(gone), 0
    while True:
        kept = []
        for line in lines:
            if line.startswith(TEXT_BOUND) and own_id(line) in gone:
                continue
            if gone.isdisjoint(references(line)):
                kept.append(line)
                continue
            changed += 1
            if line.startswith(EQUIVALENCE):
                kept += _smaller_equivalence(line, gone)
            else:
                gone.add(own_id(line))
        if len(kept) == len(lines):
            return kept, changed
        lines = kept


def _smaller_equivalence(line: str, gone: set[str]) -> list[str]:
    name, *members = line.partition("\t")[2].split()
    left = [member for member in members if member not in gone]
    return [f"{EQUIVALENCE}\t{' '.join([name, *left])}"] if len(left) > 1 else []


KEY = "brat"  # in `Document.extras`
_BOM = "\ufeff"
_LF, _CRLF = "\n", "\r\n"


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a .ann file and how they are put together.

    lines: as they are in the file or, for a T line that follows from its entity, only its id. The last
        one is empty if the file ends in a line break.
    """

    lines: list[str]
    newline: str = _LF
    bom: bool = False

    @classmethod
    def of_file(cls, content: str) -> Layout:
        body = content.removeprefix(_BOM)
        newline = _CRLF if 0 < body.count(_LF) == body.count(_CRLF) else _LF
        return cls(body.split(newline), newline, bom=len(body) < len(content))

    @classmethod
    def of_document(cls, document: Document) -> Layout:
        """The layout of a document's original file, or that of an empty file."""
        record = document.extras.get(KEY, {"lines": [""]})
        lines = record.get("lines") if isinstance(record, dict) else None
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise BadInput(
                "bad-syntax",
                "The brat extras of this document are invalid",
                where=Where(document=document.id),
                got=excerpt(record),
                expected='{"lines": ["T1", …, ""]}',
                fix="Remove them, or convert the document again from its brat files.",
            )
        newline = _CRLF if record.get("newline") == _CRLF else _LF
        return cls(lines, newline, bom=record.get("bom") is True)

    def to_file(self) -> str:
        return _BOM * self.bom + self.newline.join(self.lines)

    def to_extras(self, ids: Iterable[str]) -> dict[str, Any]:
        """The extras of a document with entities of these ids; empty if the entities suffice."""
        if self == Layout([*ids, ""]):
            return {}
        record: dict[str, Any] = {"lines": self.lines}
        if self.newline != _LF:
            record["newline"] = self.newline
        if self.bom:
            record["bom"] = True
        return {KEY: record}


def in_characters(layout: Layout, character: Callable[[int], int]) -> Layout:
    """The lines of a file whose offsets count something else, with offsets in characters."""
    return replace(layout, lines=[_moved(line, character) for line in layout.lines])


def _moved(line: str, character: Callable[[int], int]) -> str:
    bound = parse_text_bound(line) if line.startswith(TEXT_BOUND) else None
    if bound is None:
        return line
    pairs = [(character(start), character(end)) for start, end in bound.pairs]
    if pairs == bound.pairs:
        return line
    return f"{bound.id}\t{bound.label} {';'.join(f'{start} {end}' for start, end in pairs)}\t{bound.surface}"
