"""PubAnnotation's chain model of discontinuous mentions, turned into its bag model.

In a bag one denotation has several spans. In a chain each span is a denotation: the last one has the label,
the others are `_FRAGMENT`, and a relation `_lexicallyChainedTo` leads from each to the one before it.
"""

from __future__ import annotations

from typing import Any

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
