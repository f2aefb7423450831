"""The layers of a CAS: their spans, the entities that these are, and the types that declare those that are written.

Entities are the spans of `NamedEntity`, its subtypes, and custom layers. The label is the feature `value`, or `label`
or `type`, or the only feature that is set; without one it is the name of the layer. A span is discontinuous if a link
feature named `fragments` (or `extensions`, `parts`), or one to a layer `Fragment` or `Extension`, leads to other
spans; and the elements of a custom chain layer are the fragments of one entity. All else is counted as lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from disconer.core.errors import Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.entities import build_entity
from disconer.formats.extras import note_trees, note_unsaid

NER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type."
NAMED_ENTITY = f"{NER}NamedEntity"
SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
SENTENCE, TOKEN = f"{SEGMENTATION}Sentence", f"{SEGMENTATION}Token"
DISCONTINUOUS = "webanno.custom.Discontinuous"
FRAGMENT = "webanno.custom.Fragment"
LINK = "webanno.custom.DiscontinuousFragmentsLink"
FRAGMENTS, ROLE = "fragments", "fragment"  # the link feature, and the role of its links

_FOREIGN = ("de.tudarmstadt.ukp.", "org.dkpro.core.", "uima.")  # prefixes of layers that are no entities
_LINKS = {"fragment", "fragments", "extension", "extensions", "part", "parts"}
_PART_LAYERS = {"Fragment", "Extension"}
_LABELS = ("value", "label", "type")

IDS = "entity ids"
SCORES = "scores"
OTHER_LAYERS = "annotations of other layers"
OTHER_FEATURES = "further features of entities"
OTHER_LINKS = "links of entities"
LOOSE = "fragments that no entity links to"

Key = Hashable


@dataclass(slots=True)
class Span:
    """A span of a layer.

    features: its values that are text. links: by feature, the keys of the spans that they lead to.
    next: in a chain, the key of the next element.
    """

    layer: str
    start: int
    end: int
    features: dict[str, str] = field(default_factory=dict)
    links: dict[str, list[Key]] = field(default_factory=dict)
    next: Key | None = None


Spans = Mapping[Key, Span]


def short_name(layer: str) -> str:
    """The layer's name without its package."""
    return layer.rpartition(".")[2]


def is_entity_layer(layer: str) -> bool:
    """Whether spans of this layer are entities, or parts of them."""
    return layer.startswith(NER) or not layer.startswith(_FOREIGN)


def entities_of(spans: Spans, text: str, where: Where, ledger: Ledger) -> list[Entity]:
    """The entities of a document, in the order of their spans. Offsets are characters."""
    others = [span for span in spans.values() if not is_entity_layer(span.layer)]
    ledger.lost(OTHER_LAYERS, sum(span.layer not in (SENTENCE, TOKEN) for span in others))
    parts = {key: _parts(key, span, spans, ledger) for key, span in spans.items() if is_entity_layer(span.layer)}
    used = {part for key, own in parts.items() for part in own if part != key}
    entities = []
    for key, own in parts.items():
        if key in used:
            continue
        if short_name(spans[key].layer) in _PART_LAYERS:
            ledger.lost(LOOSE)
            continue
        pairs = sorted((spans[part].start, spans[part].end) for part in own)
        label = _label(spans[key], ledger)
        place = where.path or ""
        entity = build_entity(label, pairs, text, ledger=ledger, path=place, line=where.line, document=where.document)
        if entity is not None:
            entities.append(entity)
    return entities


def _parts(key: Key, span: Span, spans: Spans, ledger: Ledger) -> list[Key]:
    """The spans that an entity consists of: itself, what its links lead to, and the rest of its chain."""
    found = [key]
    for feature, targets in span.links.items():
        known = [target for target in targets if target in spans]
        named = feature.lower() in _LINKS
        own = [target for target in known if named or short_name(spans[target].layer) in _PART_LAYERS]
        ledger.lost(OTHER_LINKS, len(targets) - len(own))
        found += [target for target in own if target not in found]
    following = span.next
    while following is not None and following in spans and following not in found:
        found.append(following)
        following = spans[following].next
    return found


def _label(span: Span, ledger: Ledger) -> str:
    named = next((name for name in _LABELS if span.features.get(name)), None)
    if named is None and len(span.features) == 1:
        named = next(iter(span.features))
    ledger.lost(OTHER_FEATURES, len(span.features.keys() - {named}))
    return span.features[named] if named else short_name(span.layer).removesuffix("Link")


def spans_of(document: Document) -> dict[Key, Span]:
    """The spans of a document's entities, by number; parts come after the span that links to them."""
    spans: dict[Key, Span] = {}
    for entity in document.entities:
        first, *others = entity.fragments
        layer = DISCONTINUOUS if others else NAMED_ENTITY
        owner = Span(layer, *first, features={"value": entity.label})
        spans[len(spans)] = owner
        for fragment in others:
            owner.links.setdefault(FRAGMENTS, []).append(len(spans))
            spans[len(spans)] = Span(FRAGMENT, *fragment)
    return spans


def note_losses(document: Document, ledger: Ledger) -> None:
    """Count what these formats cannot say."""
    ledger.lost(IDS, sum(entity.id is not None for entity in document.entities))
    ledger.lost(SCORES, sum(entity.score is not None for entity in document.entities))
    note_unsaid(document.replace(sentences=None), "", ledger)
    note_trees(document, ledger)


def has_gaps(spans: Iterable[Span]) -> bool:
    return any(span.layer == DISCONTINUOUS for span in spans)


ANNOTATION, TOP, STRING, ARRAY = "uima.tcas.Annotation", "uima.cas.TOP", "uima.cas.String", "uima.cas.FSArray"


class Feature(NamedTuple):
    name: str
    range: str
    element: str | None = None  # of an array


TYPES: dict[str, tuple[str, tuple[Feature, ...]]] = {  # name → supertype and features
    SENTENCE: (ANNOTATION, ()),
    TOKEN: (ANNOTATION, ()),
    NAMED_ENTITY: (ANNOTATION, (Feature("value", STRING), Feature("identifier", STRING))),
    FRAGMENT: (ANNOTATION, ()),
    LINK: (TOP, (Feature("role", STRING), Feature("target", FRAGMENT))),
    DISCONTINUOUS: (ANNOTATION, (Feature("value", STRING), Feature(FRAGMENTS, ARRAY, LINK))),
}


def type_system_xml() -> bytes:
    """The TypeSystem.xml beside XMI files, which they cannot be read without."""
    types = "\n".join(_type_xml(name, supertype, features) for name, (supertype, features) in TYPES.items())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">\n'
        f"<types>\n{types}\n</types>\n</typeSystemDescription>\n"
    ).encode()


def _type_xml(name: str, supertype: str, features: tuple[Feature, ...]) -> str:
    listed = "".join(_feature_xml(feature) for feature in features)
    inner = f"<features>{listed}</features>" if listed else ""
    return (
        f"<typeDescription><name>{escape(name)}</name><description/>"
        f"<supertypeName>{escape(supertype)}</supertypeName>{inner}</typeDescription>"
    )


def _feature_xml(feature: Feature) -> str:
    element = f"<elementType>{feature.element}</elementType>" if feature.element else ""
    return (
        f"<featureDescription><name>{feature.name}</name><description/>"
        f"<rangeTypeName>{feature.range}</rangeTypeName>{element}</featureDescription>"
    )


def type_system_json() -> dict[str, Any]:
    """The types of a JSON CAS."""
    return {
        name: {"%NAME": name, "%SUPER_TYPE": supertype, **{one.name: _feature_json(one) for one in features}}
        for name, (supertype, features) in TYPES.items()
    }


def _feature_json(feature: Feature) -> dict[str, str]:
    range = f"{feature.element}[]" if feature.element else feature.range
    return {"%NAME": feature.name, "%RANGE": range}
