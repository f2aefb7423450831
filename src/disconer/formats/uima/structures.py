"""Between a document and the feature structures of a CAS, however these are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document
from disconer.formats.code_units import CodeUnits
from disconer.formats.uima.layers import (
    LINK,
    ROLE,
    SENTENCE,
    TOKEN,
    Key,
    Span,
    entities_of,
    is_entity_layer,
    spans_of,
)

VIEW = "_InitialView"
DOCUMENT = "uima.tcas.DocumentAnnotation"
SOFA = 1  # the number of the structure that holds the text
OTHER_VIEWS = "further views of a CAS"
RELATIONS = "relations of other layers"
CUT_SENTENCES = "sentences that overlap or cut a token, left out"
LOOSE_TOKENS = "tokens outside the sentences"
_RELATION = {"Governor", "Dependent"}


@dataclass(slots=True)
class Structure:
    """A feature structure: its number, type, plain features, and features that refer to others, by their numbers."""

    number: Key
    type: str
    features: dict[str, Any] = field(default_factory=dict)
    references: dict[str, list[Key]] = field(default_factory=dict)

    @property
    def is_annotation(self) -> bool:
        return "begin" in self.features and "end" in self.features


def to_structures(document: Document) -> Iterator[Structure]:
    """The structures of a document beside its text; the annotations among them are the members of its view."""
    units = CodeUnits(document.text)

    def annotation(number: int, type: str, start: int, end: int, **features: str) -> Structure:
        return Structure(number, type, {"begin": units.unit(start), "end": units.unit(end), **features})

    number = SOFA + 1
    yield Structure(number, DOCUMENT, {"begin": 0, "end": units.unit(len(document.text)), "language": "x-unspecified"})
    for sentence in document.sentences or ():
        for type, (start, end) in [
            (SENTENCE, (sentence.start, sentence.end)),
            *((TOKEN, one) for one in sentence.tokens),
        ]:
            number += 1
            yield annotation(number, type, start, end)
    spans = spans_of(document)
    first = number + 1
    number += len(spans)
    for key, span in spans.items():
        assert isinstance(key, int)
        structure = annotation(first + key, span.layer, span.start, span.end, **span.features)
        for feature, targets in span.links.items():
            for target in targets:
                assert isinstance(target, int)
                number += 1
                structure.references.setdefault(feature, []).append(number)
                yield Structure(number, LINK, {"role": ROLE}, {"target": [first + target]})
        yield structure


def to_document(id: str, structures: Mapping[Key, Structure], where: Where, ledger: Ledger) -> Document:
    """The document of the initial view. structures: all that the file has, by number."""
    sofas = [one for one in structures.values() if isinstance(one.features.get("sofaString"), str)]
    if not sofas:
        raise BadInput("bad-syntax", "This CAS has no text", where=where, expected="a uima.cas.Sofa with a sofaString")
    chosen = next((one for one in sofas if one.features.get("sofaID") == VIEW), sofas[0])
    ledger.lost(OTHER_VIEWS, len(sofas) - 1)
    sofa, text = chosen.number, chosen.features["sofaString"]
    own = {number: one for number, one in structures.items() if one.is_annotation and _sofa(one, sofa) == sofa}
    units = CodeUnits(text)
    spans: dict[Key, Span] = {}
    for number, structure in own.items():
        if structure.references.keys() | structure.features.keys() >= _RELATION:
            ledger.lost(RELATIONS)
        elif structure.type != DOCUMENT:
            try:
                spans[number] = _span(structure, structures, units, where)
            except BadInput as error:
                ledger.error(error)
    entities = tuple(entities_of(spans, text, where, ledger))
    sentences = _sentences(spans, len(text), ledger)
    return Document(id, text, entities, sentences)


def _sofa(structure: Structure, default: Key) -> Key:
    return next(iter(structure.references.get("sofa", ())), default)


def _span(structure: Structure, structures: Mapping[Key, Structure], units: CodeUnits, where: Where) -> Span:
    start, end = (_offset(structure, name, where) for name in ("begin", "end"))
    values = {name: value for name, value in structure.features.items() if name not in ("begin", "end")}
    features = {name: str(value) for name, value in values.items() if value is not None and value != ""}
    span = Span(structure.type, units.character(start), units.character(end), features)
    for name, numbers in structure.references.items():
        targets = [_targets(number, structures) for number in numbers]
        if name == "next":
            span.next = next(iter(numbers), None)
        elif name != "sofa" and all(targets):
            span.links[name] = [target for own in targets for target in own]
        elif name != "sofa":  # XMI has no types: these are numbers, after all
            span.features[name] = " ".join(map(str, numbers))
    return span


def _targets(number: Key, structures: Mapping[Key, Structure]) -> list[Key]:
    """The annotations that a reference leads to: itself, the target of a link, or the elements of an array."""
    structure = structures.get(number)
    if structure is None:
        return []
    if structure.is_annotation:
        return [number] if is_entity_layer(structure.type) else []
    elements = structure.references.get("elements", [number])
    return [target for element in elements for target in _link_targets(element, structures)]


def _link_targets(number: Key, structures: Mapping[Key, Structure]) -> list[Key]:
    structure = structures.get(number)
    if structure is None:
        return []
    return [number] if structure.is_annotation else structure.references.get("target", [])


def _offset(structure: Structure, name: str, where: Where) -> int:
    value = structure.features[name]
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if type(value) is int:
        return value
    raise BadInput(
        "bad-offset",
        f"The {name} of an annotation is not an integer",
        where=Where(where.path, where.line, document=where.document, entity=str(structure.number)),
        got=excerpt(value),
    )


def _sentences(spans: Mapping[Key, Span], length: int, ledger: Ledger) -> tuple[Sentence, ...] | None:
    """The sentences with their tokens, if the file has both; those that overlap an earlier one are left out."""
    tokens = sorted((span.start, span.end) for span in spans.values() if span.layer == TOKEN)
    ranges = sorted((span.start, span.end) for span in spans.values() if span.layer == SENTENCE)
    if not ranges or not tokens:
        return None
    sentences: list[Sentence] = []
    position = number = 0
    for start, end in ranges:
        while number < len(tokens) and tokens[number][0] < start:
            number += 1
        own = []
        while number < len(tokens) and tokens[number][1] <= end:
            own.append(Token(*tokens[number]))
            number += 1
        try:
            if not position <= start <= end <= length:
                raise ValueError("out of order")
            sentences.append(Sentence(start, end, tuple(own)))
            position = end
        except ValueError:
            ledger.lost(CUT_SENTENCES)
    ledger.lost(LOOSE_TOKENS, len(tokens) - sum(len(sentence.tokens) for sentence in sentences))
    return tuple(sentences)
