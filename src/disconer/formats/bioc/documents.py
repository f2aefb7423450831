"""Between the `bioc` library's documents and ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from disconer.core.derived import surface_fits
from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.beyond import NORMALISED, NORMALISED_TEXTS, Beyond, Relation, infons_of, said_elsewhere
from disconer.formats.bioc.layout import NAME, Home, Homes, completed, layout_of, texts_at
from disconer.formats.entities import Gathered, build_entity, holds, lay_out
from disconer.formats.extras import carried, note_unsaid, with_unique_ids

if TYPE_CHECKING:
    from bioc import BioCAnnotation, BioCCollection, BioCDocument

COLLECTION_FIELDS = ("source", "date", "key")
LABEL, SCORE = "type", "score"  # the infons of an annotation that we understand
_OTHER_LABEL = "label"  # stands for the type where there is none
_RESERVED = (LABEL, SCORE, NORMALISED)
_ELLIPSIS = re.compile(r"\s*(?:\.\.\.|…)\s*")  # what some tools put between fragments


def to_document(source: BioCDocument, collection: Mapping[str, Any], where: Where, ledger: Ledger) -> Document:
    """The document, its text laid out from passages and sentences; what is not text or mention goes to extras."""
    if not source.id:
        raise BadInput("bad-syntax", "This BioC document has no id", where=where, fix="Give it one: <id>…</id>.")
    where = Where(where.path, where.line, document=source.id)
    text = lay_out(_pieces(source, where), where)
    layout = layout_of(source)
    homes = Homes(layout.get("passages", [{"offset": 0}]))
    gathered = Gathered(where, ledger)
    for home, annotation in _located(source):
        entity = _entity(annotation, text, where, ledger)
        if entity is not None:
            infons = _infons_beyond(annotation, entity)
            elsewhere = home != homes.of(entity.fragments)
            gathered.add(entity, ({"infons": infons} if infons else {}) | ({"home": home} if elsewhere else {}))
    extras = {"collection": dict(collection), **layout, "mentions": gathered.beyond}
    extras = {name: value for name, value in extras.items() if value}
    return Document(source.id, text, tuple(gathered.entities), extras={NAME: extras} if extras else {})


def _pieces(source: BioCDocument, where: Where) -> Iterator[tuple[int, str]]:
    for passage in source.passages:
        if not passage.text:
            yield from ((sentence.offset, sentence.text or "") for sentence in passage.sentences)
            continue
        yield passage.offset, passage.text
        for sentence in passage.sentences:
            start = sentence.offset - passage.offset
            if sentence.text and passage.text[max(0, start) : start + len(sentence.text)] != sentence.text:
                raise BadInput(
                    "text-mismatch",
                    "A sentence differs from its passage at that offset",
                    where=Where(where.path, where.line, sentence.offset, where.document),
                    fix="Correct the sentence's offset or text, or give the text in only one of the two.",
                )


def _located(source: BioCDocument) -> Iterator[tuple[Home, BioCAnnotation]]:
    parts: list[tuple[Home, Any]] = []
    for number, passage in enumerate(source.passages):
        parts += [([number, position], sentence) for position, sentence in enumerate(passage.sentences)]
        parts.append(([number], passage))
    for home, part in [*parts, ([], source)]:
        yield from ((home, annotation) for annotation in part.annotations if annotation.locations)


def _entity(annotation: BioCAnnotation, text: str, where: Where, ledger: Ledger) -> Entity | None:
    label = annotation.infons.get(LABEL) or annotation.infons.get(_OTHER_LABEL)
    return build_entity(
        label if isinstance(label, str) else "",
        _pairs(annotation),
        text,
        ledger=ledger,
        path=where.path or "",
        line=where.line,
        document=where.document,
        id=annotation.id or None,
        score=_score(annotation.infons.get(SCORE)),
        surface=_surface(annotation, text),
    )


def _score(infon: Any) -> float | None:
    """A score as we write it; any other value of that key belongs to the corpus."""
    if isinstance(infon, bool):
        return None
    try:
        score = float(infon)
    except (TypeError, ValueError, OverflowError):
        return None
    return score if 0 <= score <= 1 else None


def _surface(annotation: BioCAnnotation, text: str) -> str | None:
    """The annotation's text to be checked, or None if there is none to check.

    Of a discontinuous mention tools write the fragments joined by spaces or ellipses, or all from its first
    character to its last.
    """
    if not annotation.text or len(annotation.locations) == 1:
        return annotation.text or None
    pairs, whole = _pairs(annotation), annotation.total_span
    if surface_fits([(whole.offset, whole.end)], text, annotation.text):
        return None
    joined = _ELLIPSIS.sub(" ", annotation.text)
    return joined if surface_fits(pairs, text, joined) else annotation.text


def _pairs(annotation: BioCAnnotation) -> list[tuple[int, int]]:
    return [(location.offset, location.end) for location in annotation.locations]


def _infons_beyond(annotation: BioCAnnotation, entity: Entity) -> dict[str, Any]:
    """The infons that the entity does not express."""
    understood = {LABEL} if entity.score is None else {LABEL, SCORE}
    return {key: value for key, value in annotation.infons.items() if key not in understood}


OTHER_COLLECTIONS = "documents' collections other than the first document's"


def encoded(documents: Iterable[Document], ledger: Ledger) -> tuple[BioCCollection, Iterator[BioCDocument]]:
    """The collection that the first document came from, without documents, and the documents one by one."""
    stream = iter(documents)
    first = next(stream, None)
    origin = {} if first is None else _origin(first)
    rest = stream if first is None else chain([first], stream)
    return _collection(origin), (_of_collection(document, origin, ledger) for document in rest)


def _of_collection(document: Document, origin: dict[str, Any], ledger: Ledger) -> BioCDocument:
    if _origin(document) not in ({}, origin):
        ledger.lost(OTHER_COLLECTIONS)
    return to_bioc(document, ledger)


def _origin(document: Document) -> dict[str, Any]:
    """The collection that a document came from, as far as its extras describe it."""
    with carried(document, NAME) as layout:
        said = dict(layout.get("collection", {}))
        infons = {"infons": dict(said["infons"])} if "infons" in said else {}
        return {name: str(said[name]) for name in COLLECTION_FIELDS if name in said} | infons


def _collection(origin: dict[str, Any]) -> BioCCollection:
    from bioc import BioCCollection

    collection = BioCCollection()
    for name in COLLECTION_FIELDS:
        setattr(collection, name, origin.get(name, ""))  # the library would put today's date
    collection.infons = origin.get("infons", {})
    return collection


def to_bioc(document: Document, ledger: Ledger) -> BioCDocument:
    """The document in passages as its extras describe them, or in one from offset 0."""
    from bioc.biocjson import fromJSON

    document = with_unique_ids(document, ledger)
    beyond = said_elsewhere(document, NAME)
    note_unsaid(document, NAME, ledger, beyond.taken)
    ledger.lost(NORMALISED_TEXTS, sum(bool(one.text) for one in beyond.normalisations))
    with carried(document, NAME) as layout:
        record = _record(document, layout, beyond, ledger)
    return fromJSON(completed(record, Where(document=document.id), ledger), "BioCDocument")


def _record(document: Document, layout: Mapping[str, Any], translated: Beyond, ledger: Ledger) -> dict[str, Any]:
    """The document as BioC JSON."""
    whole = [{"offset": 0, "length": len(document.text)}]
    passages = layout.get("passages", whole)
    has_changed = not holds(document.text, texts_at(passages))  # the text was changed
    if has_changed:
        ledger.lost("passages that no longer fit their text", len(passages))
        passages = whole
    record = _part(layout) | {"id": document.id, "passages": [_passage(part, document.text) for part in passages]}
    if translated.relations:
        record["relations"] = [*(record["relations"] or ()), *map(_relation, translated.relations)]
    homes, mentions = Homes(passages), layout.get("mentions", {})
    for entity in document.entities:
        beyond = mentions.get(entity.id, {})
        innermost = homes.of(entity.fragments)
        home = innermost if has_changed else beyond.get("home", innermost)
        part = record
        for level, number in zip(("passages", "sentences"), home, strict=False):
            part = part[level][number]
        part["annotations"].append(_annotation(entity, beyond, _infons(entity, translated, ledger)))
    return record


def _relation(relation: Relation) -> dict[str, Any]:
    ends = zip((relation.subject, relation.object), relation.roles, strict=True)
    nodes = [{"refid": id, "role": role} for id, role in ends]
    return {"id": relation.id or "", "infons": {LABEL: relation.label}, "nodes": nodes}


def _infons(entity: Entity, translated: Beyond, ledger: Ledger) -> dict[str, str]:
    """The attributes and normalisations of an entity; each key once, and none of ours."""
    attributes, normalisations = translated.of(entity.id)
    infons = infons_of([one for one in attributes if one.name not in _RESERVED], normalisations)
    ledger.lost("attributes whose name is taken", len(attributes) - len(infons.keys() - {NORMALISED}))
    return infons


def _passage(part: Mapping[str, Any], text: str) -> dict[str, Any]:
    sentences = [_placed(sentence, text) for sentence in part.get("sentences", ())]
    return _placed(part, text) | {"sentences": sentences}


def _placed(part: Mapping[str, Any], text: str) -> dict[str, Any]:
    start = part["offset"]
    return _part(part) | {"offset": start, "text": text[start : start + part.get("length", 0)]}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "infons": part.get("infons"),
        "relations": part.get("relations"),
        "annotations": list(part.get("annotations", ())),
    }


def _annotation(entity: Entity, beyond: Mapping[str, Any], translated: Mapping[str, str]) -> dict[str, Any]:
    score = {} if entity.score is None else {SCORE: repr(entity.score)}
    return {
        "id": entity.id,
        "infons": {LABEL: "", **translated, **beyond.get("infons", {})} | {LABEL: entity.label} | score,
        "locations": [{"offset": start, "length": end - start} for start, end in entity.fragments],
        "text": entity.text,
    }
