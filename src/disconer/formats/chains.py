"""PubAnnotation's older way to write a discontinuous mention: a chain of relations from its label to its fragments."""

from __future__ import annotations

from typing import Any

FRAGMENT = "_FRAGMENT"
CHAINED = "_lexicallyChainedTo"

Items = list[dict[str, Any]]


def unchain(denotations: Items, relations: Items) -> tuple[Items, Items, Items]:
    """Denotations with all their spans, the relations that are not links, and fragments that no chain leads to."""
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
    """The fragments that a chain leads to, nearest first; a cycle ends the chain."""
    found: dict[str, None] = {}
    ahead = list(links.get(name, ()))
    for fragment in ahead:  # which grows during iteration
        if fragment not in found:
            found[fragment] = None
            ahead += links.get(fragment, ())
    return list(found)
