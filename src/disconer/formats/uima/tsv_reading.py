"""From WebAnno TSV to a document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document
from disconer.formats.code_units import CodeUnits
from disconer.formats.entities import MAX_GAP
from disconer.formats.uima.layers import Key, Span, entities_of
from disconer.formats.uima.structures import RELATIONS
from disconer.formats.uima.tsv_cells import EMPTY, UNSET, parse, split, unescape

FILLED = "gaps between sentences, filled with a line break"
_KINDS = {"#T_SP=": "span", "#T_CH=": "chain", "#T_RL=": "relation"}
_UNIT = re.compile(r"(?P<token>[0-9]{1,9}-[0-9]{1,9})(?P<part>\.[0-9]{1,9})?")
_PLACE = re.compile(r"([0-9]{1,12})-([0-9]{1,12})")
_ELEMENT = re.compile(r"(?P<value>.*)->(?P<chain>[0-9]{1,9})-(?P<element>[0-9]{1,9})", re.DOTALL)
_ROLE = re.compile(r"ROLE_[^:]*:(?P<name>.+)_[^_]+")
_TEXT = "#Text="
ANY_LAYER = "uima.tcas.Annotation"
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the header: its kind, name and columns, and the number of its first column."""

    kind: str
    name: str
    columns: tuple[str, ...]
    first: int


class Pointer(NamedTuple):
    """Where a link leads to: a line, or the number of an annotation, and its layer."""

    line: str | None
    number: int | None
    layer: str


@dataclass(slots=True)
class Row:
    """A line of a token or a part of one; offsets in UTF-16 units."""

    name: str
    start: int
    end: int
    text: str
    cells: list[str]
    line: int

    @property
    def is_token(self) -> bool:
        return "." not in self.name


@dataclass(slots=True)
class Block:
    """A sentence: its text, and its lines."""

    texts: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def read_tsv(lines: Iterable[tuple[int, str]], id: str, path: str, ledger: Ledger) -> Document:
    """The document of a file, given as numbered lines."""
    layers, blocks = _parse(lines, path)
    text = _text(blocks, path, ledger)
    units = CodeUnits(text)
    _check_tokens(blocks, text, units, path)
    rows = [row for block in blocks for row in block.rows]
    spans: dict[Key, Span] = {}
    for layer in layers:
        if layer.kind == "relation":
            ledger.lost(RELATIONS, sum(row.cells[layer.first] != EMPTY for row in rows))
        elif layer.kind == "chain":
            spans |= _chains(layer, rows, units)
        else:
            spans |= _spans(layer, rows, units)
    _resolve(spans)
    entities = tuple(entities_of(spans, text, Where(path, document=id), ledger))
    return Document(id, text, entities, _sentences(blocks, units, path))


def _parse(lines: Iterable[tuple[int, str]], path: str) -> tuple[list[Layer], list[Block]]:
    layers: list[Layer] = []
    blocks: list[Block] = []
    width = 0
    for number, line in lines:
        if number == 1 and not line.removeprefix(_BOM).startswith("#FORMAT=WebAnno TSV 3"):
            raise BadInput("bad-syntax", "This is not WebAnno TSV 3", where=Where(path, number), got=excerpt(line))
        kind = _KINDS.get(line[:6])
        if kind and not blocks:
            name, *columns = line[6:].split("|")
            layers.append(Layer(kind, name, tuple(columns or ("",)), width))
            width += len(layers[-1].columns)
        elif line.startswith(_TEXT):
            if not blocks or blocks[-1].rows:
                blocks.append(Block())
            blocks[-1].texts.append(unescape(line.removeprefix(_TEXT)))
        elif line[:1].isdigit():
            if not blocks:
                blocks.append(Block())
            blocks[-1].rows.append(_row(line, width, Where(path, number)))
    return layers, blocks


def _row(line: str, width: int, where: Where) -> Row:
    name, *rest = line.split("\t")
    place = _PLACE.fullmatch(rest[0]) if len(rest) >= 2 else None
    if not _UNIT.fullmatch(name) or place is None or int(place[1]) > int(place[2]) or len(rest) - 2 < width:
        raise BadInput(
            "bad-syntax",
            "This line is not a token",
            where=where,
            got=excerpt(line),
            expected=f"a number such as 1-1, offsets such as 0-4, a text, and {width} columns, separated by tabs",
        )
    return Row(name, int(place[1]), int(place[2]), unescape(rest[1]), rest[2:], where.line or 0)


def _text(blocks: list[Block], path: str, ledger: Ledger) -> str:
    """The sentences' texts at the offsets of their first tokens."""
    parts: list[str] = []
    length = 0  # in units
    for block in blocks:
        text = block.text
        start = length
        if block.rows:
            lead = max(text.find(block.rows[0].text), 0)
            start = block.rows[0].start - _n_units(text[:lead])
        if not length <= start <= length + MAX_GAP:
            raise BadInput(
                "bad-offset",
                "A sentence starts before the end of the one before it" if start < length else "A sentence is far away",
                where=Where(path, block.rows[0].line, start),
                expected=f"an offset from {length} to {length + MAX_GAP}",
            )
        if start > length:
            ledger.repaired(FILLED, length > 0)
            parts.append("\n" + " " * (start - length - 1) if length else " " * start)
        parts.append(text)
        length = start + _n_units(text)
    return "".join(parts)


def _n_units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _check_tokens(blocks: list[Block], text: str, units: CodeUnits, path: str) -> None:
    for row in (row for block in blocks for row in block.rows):
        end = units.character(row.end)
        found = text[units.character(row.start) : end]
        if found != row.text or end > len(text):
            raise BadInput(
                "text-mismatch",
                "The text at these offsets differs from the token",
                where=Where(path, row.line, row.start),
                got=excerpt(found),
                expected=excerpt(row.text),
                fix="Check that offsets count UTF-16 units, and that #Text= has the whole sentence.",
            )


def _spans(layer: Layer, rows: list[Row], units: CodeUnits) -> dict[Key, Span]:
    """The annotations of a span layer, with links as pointers."""
    spans: dict[Key, Span] = {}
    for row in rows:
        cells = row.cells[layer.first : layer.first + len(layer.columns)]
        if all(cell in (EMPTY, "") for cell in cells):
            continue
        stacks = [split(cell, "|") for cell in cells]
        for position in range(max(map(len, stacks))):
            parts = [stack[position] if position < len(stack) else EMPTY for stack in stacks]
            number = next((one.number for one in map(parse, parts) if one.number is not None), None)
            key: Key = (layer.name, row.name, position) if number is None else (layer.name, number)
            start, end = units.character(row.start), units.character(row.end)
            if key in spans:
                spans[key].start, spans[key].end = min(spans[key].start, start), max(spans[key].end, end)
            else:
                spans[key] = _span(layer, parts, start, end)
    return spans


def _span(layer: Layer, parts: list[str], start: int, end: int) -> Span:
    span = Span(layer.name, start, end)
    columns = iter(zip(layer.columns, parts, strict=True))
    for column, part in columns:
        if role := _ROLE.fullmatch(column):
            target, places = next(columns, ("", EMPTY))
            if places not in (EMPTY, UNSET):
                span.links[role["name"]] = [Pointer(*parse(place), target) for place in split(places, ";")]
        elif column and part != EMPTY and (value := parse(part).value) is not None:
            span.features[column] = value
    return span


def _resolve(spans: dict[Key, Span]) -> None:
    """Make links lead to annotations: by number, or else to the one of the line; those that lead nowhere stay."""
    named: dict[Key, list[Key]] = {}
    for key in spans:
        if isinstance(key, tuple):
            named.setdefault(key[1], []).append(key)
    for span in spans.values():
        for name, targets in span.links.items():
            span.links[name] = [
                _target(one, span, named, spans) if isinstance(one, Pointer) else one for one in targets
            ]


def _target(pointer: Key, owner: Span, named: dict[Key, list[Key]], spans: dict[Key, Span]) -> Key:
    assert isinstance(pointer, Pointer)
    for key in named.get(pointer.line if pointer.number is None else pointer.number, ()):
        if spans[key] is not owner and pointer.layer in (spans[key].layer, ANY_LAYER):
            return key
    return pointer


def _chains(layer: Layer, rows: list[Row], units: CodeUnits) -> dict[Key, Span]:
    """The elements of chains, each linked to the next."""
    spans: dict[Key, Span] = {}
    for row in rows:
        for column, cell in zip(layer.columns, row.cells[layer.first :], strict=False):
            for part in split(cell, "|"):
                match = _ELEMENT.fullmatch(re.sub(r"\[[0-9]+\]$", "", part))
                if match is None:
                    continue
                chain, element = int(match["chain"]), int(match["element"])
                start, end = units.character(row.start), units.character(row.end)
                span = spans.setdefault((layer.name, chain, element), Span(layer.name, start, end))
                span.start, span.end = min(span.start, start), max(span.end, end)
                span.next = (layer.name, chain, element + 1)
                value = parse(match["value"]).value
                if value is not None and column == "referenceType":
                    span.features["value"] = value
    return spans


def _sentences(blocks: list[Block], units: CodeUnits, path: str) -> tuple[Sentence, ...] | None:
    sentences: list[Sentence] = []
    for block in blocks:
        tokens = [Token(units.character(row.start), units.character(row.end)) for row in block.rows if row.is_token]
        if tokens:
            try:
                if sentences and tokens[0].start < sentences[-1].end:
                    raise ValueError(f"a sentence starts at {tokens[0].start}, before the end of the one before it")
                sentences.append(Sentence(tokens[0].start, tokens[-1].end, tuple(tokens)))
            except ValueError as error:
                raise BadInput("bad-offset", str(error), where=Where(path, block.rows[0].line)) from error
    return tuple(sentences) or None
