r"""WebAnno TSV 3, of WebAnno and INCEpTION: one document per file.

    #FORMAT=WebAnno TSV 3.3
    #T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
    #T_SP=webanno.custom.Discontinuous|value|ROLE_webanno.custom.Discontinuous:fragments_…Link|webanno.custom.Fragment
    #T_SP=webanno.custom.Fragment|


    #Text=Pain in arms and legs
    1-1	0-4	Pain	*[1]	Symptom[1]	Symptom[2]	fragment	1-5	_
    1-2	5-7	in	*[1]	Symptom[1]	_	_	_	_
    …
    1-5	17-21	legs	_	_	_	_	_	*

A line is a token, or a part of one (1-2.1); a column, a feature. Annotations of several lines, or several of one line,
have a number in brackets. Sentences and tokens are the document's own, or made by rules. Each `#Text=` goes up to the
next sentence, so that no whitespace is lost but that before the first word.

Files are written here, and read by `tsv_reading`; what is in a cell is `tsv_cells`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from disconer.core.ledger import Ledger
from disconer.core.sentence import Token
from disconer.core.types import Document
from disconer.formats.code_units import CodeUnits
from disconer.formats.extras import without_halves
from disconer.formats.format import Format, file_writer, member_reader
from disconer.formats.source import Member
from disconer.formats.uima.layers import (
    DISCONTINUOUS,
    FRAGMENT,
    FRAGMENTS,
    LINK,
    NAMED_ENTITY,
    ROLE,
    Key,
    Span,
    has_gaps,
    note_losses,
    spans_of,
)
from disconer.formats.uima.tsv_cells import EMPTY, UNSET, escape, escape_text
from disconer.formats.uima.tsv_reading import read_tsv
from disconer.text import segment

SUFFIXES = (".tsv",)
REPLACED = "lone surrogates, which text files cannot store, replaced"


def content(document: Document, ledger: Ledger) -> bytes:
    """The file of a document."""
    note_losses(document, ledger)
    document, n_halves = without_halves(document)
    ledger.lost(REPLACED, n_halves)
    return tsv_text(document, ledger).encode()


TRIMMED = "whitespace at the edges of fragments"
BLANK = "entities of whitespace alone"
LEADING = "line breaks before the first word"
_NON_SPACE = re.compile(r"\S+")
_HEAD = "#FORMAT=WebAnno TSV 3.3\n"
_COLUMNS = {  # of each layer, what follows its name in the header
    NAMED_ENTITY: ("identifier", "value"),
    DISCONTINUOUS: ("value", f"ROLE_{DISCONTINUOUS}:{FRAGMENTS}_{LINK}", FRAGMENT),
    FRAGMENT: ("",),
}


@dataclass(slots=True)
class Unit:
    """A line: a token, or a part of one. `spans` are the annotations that cover it."""

    name: str
    start: int
    end: int
    spans: list[Key] = field(default_factory=list)


def tsv_text(document: Document, ledger: Ledger) -> str:
    """The content of a document's file."""
    document = segment(document)
    tokens = _tokens(document)
    leading = document.text[: tokens[0].start] if tokens else ""
    ledger.lost(LEADING, len(leading.replace(" ", "")))
    spans = _placed(spans_of(document), tokens, ledger)
    layers = list(_COLUMNS) if has_gaps(spans.values()) else [NAMED_ENTITY]
    header = "".join(f"#T_SP={layer}|{'|'.join(_COLUMNS[layer])}\n" for layer in layers)
    sentences = _sentences(document, tokens)
    body = _body(document.text, sentences, spans, layers) if tokens else [_text_lines(document.text)]
    return f"{_HEAD}{header}\n" + "".join(f"\n{part}" for part in body if document.text)


def _body(text: str, sentences: list[list[Token]], spans: dict[Key, Span], layers: list[str]) -> Iterator[str]:
    """The sentences, each with its text and its lines."""
    units = _units(sentences, spans)
    table = _Table(units, spans)
    offsets = CodeUnits(text)
    ends = [own[0].start for own in sentences[1:]] + [len(text)]
    for own, end in zip(units, ends, strict=True):
        lines = [_text_lines(text[own[0].start : end])]
        for unit in own:
            place = f"{offsets.unit(unit.start)}-{offsets.unit(unit.end)}"
            cells = [cell for layer in layers for cell in table.cells(layer, unit)]
            lines.append("\t".join([unit.name, place, escape_text(text[unit.start : unit.end]), *cells, "\n"]))
        yield "".join(lines)


def _text_lines(text: str) -> str:
    return "".join(f"#Text={escape_text(line)}\n" for line in text.split("\n"))


def _tokens(document: Document) -> list[Token]:
    """The tokens of all sentences, and what stands outside them, but for whitespace."""
    own = [token for sentence in document.sentences or () for token in sentence.tokens]
    tokens: list[Token] = []
    position = 0
    for start, end in [*own, (len(document.text), len(document.text))]:
        tokens += [Token(*match.span()) for match in _NON_SPACE.finditer(document.text, position, start)]
        tokens += [Token(start, end)] if end > start else []
        position = end
    return tokens


def _placed(spans: dict[Key, Span], tokens: Sequence[Token], ledger: Ledger) -> dict[Key, Span]:
    """Spans from the start of a token, or within one, to an end likewise; an entity without any is left out."""
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    for span in spans.values():
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end) - 1
        if first > last:
            span.end = span.start
            continue
        edges = max(span.start, starts[first]), min(span.end, ends[last])
        ledger.lost(TRIMMED, edges != (span.start, span.end))
        span.start, span.end = edges
    blank = {key for key, span in spans.items() if span.start == span.end}
    ledger.lost(BLANK, len(blank))
    dropped = blank | {target for key in blank for own in spans[key].links.values() for target in own}
    for span in spans.values():
        span.links = {name: [one for one in own if one not in dropped] for name, own in span.links.items()}
    return {key: span for key, span in spans.items() if key not in dropped}


def _sentences(document: Document, tokens: Sequence[Token]) -> list[list[Token]]:
    starts = [sentence.start for sentence in document.sentences or ()]
    sentences: dict[int, list[Token]] = {}
    for token in tokens:
        sentences.setdefault(bisect_right(starts, token.start), []).append(token)
    return list(sentences.values())


def _units(sentences: list[list[Token]], spans: dict[Key, Span]) -> list[list[Unit]]:
    """The lines of each sentence, with the annotations that cover them."""
    tokens = [token for own in sentences for token in own]
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    whole: dict[int, list[Key]] = {}
    partial: dict[int, dict[tuple[int, int], list[Key]]] = {}
    for key, span in spans.items():
        for number in range(bisect_right(ends, span.start), bisect_left(starts, span.end)):
            covered = max(span.start, starts[number]), min(span.end, ends[number])
            if covered == tokens[number]:
                whole.setdefault(number, []).append(key)
            else:
                partial.setdefault(number, {}).setdefault(covered, []).append(key)
    units: list[list[Unit]] = []
    number = 0
    for row, own in enumerate(sentences, 1):
        lines: list[Unit] = []
        for column, token in enumerate(own, 1):
            name = f"{row}-{column}"
            lines.append(Unit(name, *token, whole.get(number, [])))
            parts = sorted(partial.get(number, {}).items())
            lines += [Unit(f"{name}.{part}", *place, keys) for part, (place, keys) in enumerate(parts, 1)]
            number += 1
        units.append(lines)
    return units


def _numbers(units: list[list[Unit]], spans: dict[Key, Span]) -> dict[Key, int]:
    """Numbers for annotations of several lines, and for those that share a line with another of their layer."""
    n_lines = Counter(key for own in units for unit in own for key in unit.spans)
    needed: dict[Key, None] = {}
    for own in units:
        for unit in own:
            layers = Counter(spans[key].layer for key in unit.spans)
            needed |= {key: None for key in unit.spans if n_lines[key] > 1 or layers[spans[key].layer] > 1}
    return {key: number for number, key in enumerate(needed, 1)}


class _Table:
    """What the cells of a line say."""

    def __init__(self, units: list[list[Unit]], spans: dict[Key, Span]) -> None:
        self._spans = spans
        numbers = _numbers(units, spans)
        self._marks = {key: f"[{numbers[key]}]" if key in numbers else "" for key in spans}
        every = [unit for own in units for unit in own]
        self._lines = {key: unit.name for unit in reversed(every) for key in unit.spans}  # where each starts

    def cells(self, layer: str, unit: Unit) -> Iterator[str]:
        """The cells of a layer's columns in a line."""
        own = [key for key in unit.spans if self._spans[key].layer == layer]
        if not own:
            yield from [EMPTY] * len(_COLUMNS[layer])
            return
        if layer != DISCONTINUOUS:  # the identifier, or that there is a fragment
            yield "|".join(UNSET + self._marks[key] for key in own)
        if layer != FRAGMENT:
            yield "|".join(escape(self._spans[key].features["value"]) + self._marks[key] for key in own)
        if layer == DISCONTINUOUS:
            yield from self._links(own)

    def _links(self, own: list[Key]) -> Iterator[str]:
        targets = [self._spans[key].links.get(FRAGMENTS, []) for key in own]
        roles = [";".join([ROLE] * len(parts)) or EMPTY for parts in targets]
        yield "|".join(role + self._marks[key] for role, key in zip(roles, own, strict=True))
        places = [";".join(self._lines[part] + self._marks[part] for part in parts) for parts in targets]
        yield "|".join(place or UNSET for place in places)


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    yield read_tsv(member.lines(), member.stem, member.origin, ledger)


def _sniff(name: str, head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").startswith(b"#FORMAT=WebAnno TSV 3")


FORMAT = Format(
    name="webanno-tsv",
    about="WebAnno TSV 3 of INCEpTION and WebAnno, one document per file; fragments are linked spans",
    holds="all entities, sentences, tokens",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=file_writer(".tsv", content, "WebAnno TSV"),
    writes_folder=True,
)
