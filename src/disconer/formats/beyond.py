"""Relations, attributes and normalisations of entities, from one format's extras to another's.

brat has lines (R, A, N), BioC relations and infons, bigbio relations and `normalized`, PubAnnotation relations and
attributes. Each is read from a document's extras into the same three things, and a writer puts them in its own form.
What only one format can say (events, notes, infons of passages) is not translated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from disconer.core.types import Document

NORMALISED = "identifier"  # the infon, or the predicate of an attribute, that holds RESOURCE:ID
NORMALISED_TEXTS = "texts of normalisations"
ROLES = "roles of relations"
_REFERENCE = re.compile(r"([^\s:|]+):([^\s|]+)")
_SEPARATOR = "|"  # between the references of one entity
_TRUE = "true"  # an attribute without a value, where the format needs one


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two entities, by their ids."""

    label: str
    subject: str
    object: str
    roles: tuple[str, str] = ("Arg1", "Arg2")
    id: str | None = None

    @property
    def has_roles(self) -> bool:
        """Whether its roles say more than first and second."""
        return self.roles != ("Arg1", "Arg2")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an entity; `value` is None where it simply holds."""

    name: str
    subject: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Normalisation:
    """The entry of a terminology that an entity means."""

    subject: str
    resource: str
    reference: str
    text: str = ""


@dataclass(slots=True)
class Beyond:
    """Everything that a document's extras say about entities.

    holds_attributes: whether the format to be written has a place for attributes.
    taken: how many items of the extras were used, by the names under which `extras.note_unsaid` counts them.
    """

    holds_attributes: bool = True
    relations: list[Relation] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    normalisations: list[Normalisation] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)

    def add_attribute(self, attribute: Attribute) -> bool:
        """Add an attribute, if there is a place for it."""
        if self.holds_attributes:
            self.attributes.append(attribute)
        return self.holds_attributes

    def of(self, entity_id: str | None) -> tuple[list[Attribute], list[Normalisation]]:
        """The attributes and normalisations of an entity."""
        return (
            [attribute for attribute in self.attributes if attribute.subject == entity_id],
            [normalisation for normalisation in self.normalisations if normalisation.subject == entity_id],
        )


def said_elsewhere(document: Document, own: str, *, attributes: bool = True) -> Beyond:
    """What the extras of formats other than `own` say about entities. Malformed extras say nothing."""
    beyond = Beyond(attributes)
    ids = {entity.id for entity in document.entities if entity.id}
    for name, gather in _GATHERERS.items():
        extras = document.extras.get(name)
        if name != own and isinstance(extras, dict):
            gather(extras, beyond, ids)
    return beyond


def infons_of(attributes: list[Attribute], normalisations: list[Normalisation]) -> dict[str, str]:
    """Attributes and normalisations as strings by key, as BioC has them."""
    infons = {attribute.name: attribute.value or _TRUE for attribute in attributes}
    if normalisations:
        infons[NORMALISED] = _SEPARATOR.join(f"{one.resource}:{one.reference}" for one in normalisations)
    return infons


def _items(value: Any) -> Iterator[dict[str, Any]]:
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _known(ends: Iterable[Any], ids: set[str]) -> bool:
    return all(isinstance(end, str) and end in ids for end in ends)


def _references(value: Any) -> list[tuple[str, str]] | None:
    """The (resource, id) pairs of a string such as MESH:D003924|UMLS:C0011860; None if it is not one."""
    matches = [_REFERENCE.fullmatch(part) for part in value.split(_SEPARATOR)] if isinstance(value, str) else [None]
    found = [(match[1], match[2]) for match in matches if match]
    return found if len(found) == len(matches) else None


def _from_brat(extras: dict[str, Any], beyond: Beyond, ids: set[str]) -> None:
    lines = extras.get("lines")
    for line in lines if isinstance(lines, list) else ():
        name, _, rest = str(line).partition("\t")
        what, _, text = rest.partition("\t")
        words = what.split()
        kind = name[:1]
        if kind == "R" and len(words) == 3:
            (role, _, subject), (other_role, _, object) = (word.rpartition(":") for word in words[1:])
            if {subject, object} <= ids:
                beyond.relations.append(Relation(words[0], subject, object, (role, other_role), name))
                beyond.taken["brat relations"] += 1
        elif kind in ("A", "M") and len(words) in (2, 3) and words[1] in ids:
            kept = beyond.add_attribute(Attribute(words[0], words[1], words[2] if words[2:] else None))
            beyond.taken["brat attributes"] += kept
        elif kind == "N" and len(words) == 3 and words[1] in ids:
            resource, colon, reference = words[2].partition(":")
            if colon and resource and reference and _SEPARATOR not in words[2]:
                beyond.normalisations.append(Normalisation(words[1], resource, reference, text))
                beyond.taken["brat normalisations"] += 1


def _from_bioc(extras: dict[str, Any], beyond: Beyond, ids: set[str]) -> None:
    for relation in _items(extras.get("relations")):
        infons, nodes = relation.get("infons"), list(_items(relation.get("nodes")))
        label = infons.get("type") if isinstance(infons, dict) else None
        ends = [node.get("refid") for node in nodes]
        if isinstance(label, str) and len(ends) == 2 and _known(ends, ids) and len(infons or {}) == 1:
            roles = tuple(str(node.get("role") or f"Arg{place}") for place, node in enumerate(nodes, 1))
            beyond.relations.append(
                Relation(label, str(ends[0]), str(ends[1]), (roles[0], roles[1]), str(relation.get("id")))
            )
            beyond.taken["bioc relations"] += 1
    mentions = extras.get("mentions")
    for id, mention in mentions.items() if isinstance(mentions, dict) else ():
        infons = mention.get("infons") if isinstance(mention, dict) else None
        if id not in ids or not isinstance(infons, dict):
            continue
        n_left = 0
        for key, value in infons.items():
            references = _references(value) if key == NORMALISED else None
            if references:
                beyond.normalisations += [Normalisation(id, *reference) for reference in references]
            elif isinstance(value, str) and value and key:
                n_left += not beyond.add_attribute(Attribute(key, id, None if value == _TRUE else value))
            else:
                n_left += 1
        beyond.taken["bioc mentions"] += n_left == 0


def _from_bigbio(extras: dict[str, Any], beyond: Beyond, ids: set[str]) -> None:
    for relation in _items(extras.get("relations")):
        ends = (relation.get("arg1_id"), relation.get("arg2_id"))
        if isinstance(relation.get("type"), str) and _known(ends, ids) and not relation.get("normalized"):
            beyond.relations.append(Relation(relation["type"], str(ends[0]), str(ends[1]), id=str(relation.get("id"))))
            beyond.taken["bigbio relations"] += 1
    entities = extras.get("entities")
    for id, fields in entities.items() if isinstance(entities, dict) else ():
        if id in ids and isinstance(fields, dict):
            items = list(_items(fields.get("normalized")))
            pairs = [(item.get("db_name"), item.get("db_id")) for item in items]
            if fields.keys() == {"normalized"} and all(isinstance(part, str) for pair in pairs for part in pair):
                beyond.normalisations += [Normalisation(id, str(name), str(number)) for name, number in pairs]
                beyond.taken["bigbio entities"] += 1


def _from_pubannotation(extras: dict[str, Any], beyond: Beyond, ids: set[str]) -> None:
    for relation in _items(extras.get("relations")):
        ends = (relation.get("subj"), relation.get("obj"))
        if isinstance(relation.get("pred"), str) and _known(ends, ids):
            beyond.relations.append(Relation(relation["pred"], str(ends[0]), str(ends[1]), id=str(relation.get("id"))))
            beyond.taken["pubannotation relations"] += 1
    for attribute in _items(extras.get("attributes")):
        subject, name, value = (attribute.get(key) for key in ("subj", "pred", "obj"))
        if not isinstance(subject, str) or subject not in ids or not isinstance(name, str) or not name:
            continue
        references = _references(value) if name == NORMALISED else None
        if references:
            beyond.normalisations += [Normalisation(subject, *reference) for reference in references]
            beyond.taken["pubannotation attributes"] += 1
        elif value is True or (isinstance(value, str) and value):
            kept = beyond.add_attribute(Attribute(name, subject, None if value is True else value))
            beyond.taken["pubannotation attributes"] += kept


_GATHERERS: Mapping[str, Any] = {
    "brat": _from_brat,
    "bioc": _from_bioc,
    "bigbio": _from_bigbio,
    "pubannotation": _from_pubannotation,
}
TRANSLATED = tuple(_GATHERERS)  # the formats whose extras are understood
