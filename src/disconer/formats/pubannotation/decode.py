"""From a PubAnnotation record to a document.

In a bag one denotation has several spans. In a chain each span is a denotation: the last one has the label,
the others are `_FRAGMENT`, and a relation `_lexicallyChainedTo` leads from each to the one before it.
"""

from __future__ import annotations

from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.formats.entities import Gathered, build_entity
from disconer.formats.jsonfiles import field
from disconer.formats.pubannotation.encode import NAME, SCORE, SOURCE, prefix_of, source_name

FRAGMENT = "_FRAGMENT"
CHAINED = "_lexicallyChainedTo"

Items = list[dict[str, Any]]


def unchain(denotations: Items, relations: Items) -> tuple[Items, Items, Items]:
    """Denotations with all their spans, the relations that are no links, and fragments that no chain leads to."""
    loose = [item for item in denotations if item.get("obj") == FRAGMENT]
    if not loose:
        return denotations, relations, []
    fragments = {name: item for item in loose if (name := name_of(item)) is not None}
    links: dict[str | None, list[str]] = {}
    others = []
    for relation in relations:
        target = name_of(relation, "obj")
        if relation.get("pred") == CHAINED and target in fragments:
            links.setdefault(name_of(relation, "subj"), []).append(target)
        else:
            others.append(relation)
    links.pop(None, None)
    bags: Items = []
    used: set[str] = set()
    for item in denotations:
        if item.get("obj") != FRAGMENT:
            chain = _reached(name_of(item), links)
            used.update(chain)
            spans = [span for name in reversed(chain) for span in spans_of(fragments[name])] + spans_of(item)
            bags.append(item | {"span": spans} if chain else item)
    return bags, others, [item for item in loose if name_of(item) not in used]


def name_of(item: dict[str, Any], field: str = "id") -> str | None:
    """The id in a field, which some files have as a number; None if there is none."""
    return None if item.get(field) is None else str(item[field])


def spans_of(item: dict[str, Any]) -> list[Any]:
    """The spans of a denotation, one or a bag."""
    span = item.get("span")
    return span if isinstance(span, list) else [span]


def _reached(name: str | None, links: dict[str | None, list[str]]) -> list[str]:
    """The fragments that a chain leads to, nearest first; a chain that bites its tail ends there."""
    found: dict[str, None] = {}
    ahead = list(links.get(name, ()))
    for fragment in ahead:  # which grows as it is gone through
        if fragment not in found:
            found[fragment] = None
            ahead += links.get(fragment, ())
    return list(found)


_DENOTATION = {"id", "span", "obj"}


def from_record(record: Any, name: str, where: Where, ledger: Ledger) -> Document:
    """The document of a JSON object, called `name` if it does not say its source."""
    text = field(record, "text", str, where)
    id = source_name(record) or name
    reader = _TrackReader(text, Where(where.path, where.line, document=id), ledger)
    rest = reader.read(record, "")
    del rest["text"]
    if rest.keys() & set(SOURCE) == {"sourceid"}:
        del rest["sourceid"]  # it is the id
    if "tracks" in rest:
        tracks = field(record, "tracks", list, where)
        rest["tracks"] = [reader.read(track, prefix_of(track, number)) for number, track in enumerate(tracks)]
    if reader.gathered.beyond:
        rest["denotations"] = reader.gathered.beyond
    return Document(id, text, tuple(reader.gathered.entities), extras={NAME: rest} if rest else {})


class _TrackReader:
    """Reads the denotations of a document, track by track, into `gathered`."""

    def __init__(self, text: str, where: Where, ledger: Ledger) -> None:
        self.gathered = Gathered(where, ledger)
        self._text, self._where, self._ledger = text, where, ledger

    def read(self, track: Any, prefix: str) -> dict[str, Any]:
        """Take the track's entities, and give the rest of it."""
        lists = {name: self._objects(track, name) for name in ("denotations", "relations", "attributes")}
        denotations, relations, loose = unchain(lists["denotations"], lists["relations"])
        for item in loose:
            problem = "This fragment is in no chain that leads from a denotation with a label"
            self._ledger.fault(BadInput("bad-syntax", problem, where=self._place(name_of(item))))
        scores, attributes = _split_scores(lists["attributes"], {name_of(item) for item in denotations})
        for item in denotations:
            entity = self._entity(item, prefix, scores.get(name_of(item)))
            if entity is not None:
                self.gathered.add(entity, {name: value for name, value in item.items() if name not in _DENOTATION})
        rest = {name: value for name, value in track.items() if name not in lists}
        kept = {"relations": relations, "attributes": attributes}
        return rest | {name: value for name, value in kept.items() if value}

    def _objects(self, track: Any, name: str) -> list[dict[str, Any]]:
        items: list[Any] = field(track, name, list, self._where, default=[])
        for item in items:
            if not isinstance(item, dict):
                raise BadInput(
                    "bad-syntax", f"One of the {name} is not an object", where=self._where, got=excerpt(item)
                )
        return items

    def _entity(self, item: dict[str, Any], prefix: str, score: float | None) -> Entity | None:
        name = name_of(item)
        id = None if name is None else f"{prefix}{name}"
        where = self._place(id)
        try:
            label = field(item, "obj", str, where)
            pairs = [(field(span, "begin", int, where), field(span, "end", int, where)) for span in spans_of(item)]
        except BadInput as error:
            self._ledger.fault(error)
            return None
        return build_entity(
            label,
            pairs,
            self._text,
            ledger=self._ledger,
            path=where.path or "",
            line=where.line,
            document=where.document,
            id=id,
            score=score,
        )

    def _place(self, id: str | None) -> Where:
        return Where(self._where.path, self._where.line, None, self._where.document, id)


def _split_scores(
    attributes: list[dict[str, Any]], names: set[str | None]
) -> tuple[dict[str | None, float], list[dict[str, Any]]]:
    """The scores of denotations by id, and the attributes that are none."""
    scores: dict[str | None, float] = {}
    others = []
    for attribute in attributes:
        subject = name_of(attribute, "subj")
        value: Any = attribute.get("obj")
        is_score = attribute.get("pred") == SCORE and type(value) in (int, float) and 0 <= value <= 1
        if is_score and subject is not None and subject in names and subject not in scores:
            scores[subject] = float(value)
        else:
            others.append(attribute)
    return scores, others
