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
    fragments = {str(item.get("id")): item for item in loose}
    links: dict[str, list[str]] = {}
    others = []
    for relation in relations:
        target = str(relation.get("obj"))
        if relation.get("pred") == CHAINED and target in fragments:
            links.setdefault(str(relation.get("subj")), []).append(target)
        else:
            others.append(relation)
    bags: Items = []
    used: set[str] = set()
    for item in denotations:
        if item.get("obj") != FRAGMENT:
            chain = _reached(str(item.get("id")), links)
            used.update(chain)
            spans = [span for id in reversed(chain) for span in spans_of(fragments[id])] + spans_of(item)
            bags.append(item | {"span": spans} if chain else item)
    return bags, others, [item for item in loose if str(item.get("id")) not in used]


def spans_of(item: dict[str, Any]) -> list[Any]:
    """The spans of a denotation, one or a bag."""
    span = item.get("span")
    return span if isinstance(span, list) else [span]


def _reached(id: str, links: dict[str, list[str]]) -> list[str]:
    """The fragments that a chain leads to, nearest first; a chain that bites its tail ends there."""
    found: dict[str, None] = {}
    ahead = list(links.get(id, ()))
    for fragment in ahead:  # which grows as it is gone through
        if fragment not in found:
            found[fragment] = None
            ahead += links.get(fragment, ())
    return list(found)
