"""The parts of a BioC document as JSON has them: which fields, of which types, and what stands in for absent ones."""

from __future__ import annotations

from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.formats.jsonfiles import TYPE_NAMES

# A field that ends in s holds parts of the kind that it is the plural of.
_SHAPES: dict[str, dict[str, type]] = {
    "document": {"id": str, "infons": dict, "passages": list, "annotations": list, "relations": list},
    "passage": {
        "offset": int,
        "infons": dict,
        "text": str,
        "sentences": list,
        "annotations": list,
        "relations": list,
    },
    "sentence": {"offset": int, "infons": dict, "text": str, "annotations": list, "relations": list},
    "annotation": {"id": str, "infons": dict, "text": str, "locations": list},
    "relation": {"id": str, "infons": dict, "nodes": list},
    "location": {"offset": int, "length": int},
    "node": {"refid": str, "role": str},
}
_TAG = "bioctype"  # the name of the kind, which some writers repeat in each part

UNKNOWN_FIELDS = "fields that BioC does not define"


def completed(record: Any, where: Where, ledger: Ledger, kind: str = "document") -> dict[str, Any]:
    """A BioC part with every field that the `bioc` library asks for, each of the right type.

    Real files leave out what is empty and write ids as numbers. Only offsets and lengths have no substitute.
    """
    if not isinstance(record, dict):
        raise BadInput("bad-syntax", f"This is not a BioC {kind}", where=where, got=excerpt(record))
    shape = _SHAPES[kind]
    ledger.lost(UNKNOWN_FIELDS, len(record.keys() - shape.keys() - {_TAG}))
    part: dict[str, Any] = {}
    for name, expected in shape.items():
        value = _typed(record.get(name), expected, f"The {kind}'s field {name!r}", where)
        if expected is list:
            value = [completed(item, where, ledger, name[:-1]) for item in value]
        part[name] = value
    return part


def _typed(value: Any, expected: type, what: str, where: Where) -> Any:
    if value is None and expected is not int:
        return expected()
    if isinstance(value, int) and expected is str:
        return str(value)
    if isinstance(value, expected) and not isinstance(value, bool):
        return value
    raise BadInput(
        "bad-syntax",
        f"{what} is {'missing' if value is None else 'of the wrong type'}",
        where=where,
        got=None if value is None else excerpt(value),
        expected=TYPE_NAMES[expected],
    )
