"""The characters that XML 1.0 cannot hold, not even escaped: most control characters, half surrogate pairs, U+FFFE."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from disconer.core.ledger import Ledger
from disconer.core.types import Document

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REPLACED = "characters that XML cannot hold, replaced"


def without_unwritable(document: Document, extras: str, ledger: Ledger) -> Document:
    """The document with a stand-in for each such character, counted as lost, so that every offset stays right.

    extras: the name of the extras to be written.
    """
    parts = [
        document.id,
        document.text,
        [[entity.label, entity.id] for entity in document.entities],
        {name: value for name, value in document.extras.items() if name == extras},
    ]
    (id, text, names, own_extras), n_replaced = _cleaned(parts)
    if not n_replaced:
        return document
    ledger.lost(REPLACED, n_replaced)
    entities = [
        replace(entity, label=label, id=name) for entity, (label, name) in zip(document.entities, names, strict=True)
    ]
    return document.replace(id=id, text=text, entities=tuple(entities), extras={**document.extras, **own_extras})


def _cleaned(value: Any) -> tuple[Any, int]:
    """A JSON value with all its strings cleaned, and the number of characters replaced."""
    if isinstance(value, str):
        return _UNWRITABLE.subn(_stand_in, value)
    if isinstance(value, list):
        pairs = [_cleaned(item) for item in value]
        return [item for item, _ in pairs], sum(n for _, n in pairs)
    if isinstance(value, dict):
        keys, n_keys = _cleaned(list(value))
        values, n_values = _cleaned(list(value.values()))
        return dict(zip(keys, values, strict=True)), n_keys + n_values
    return value, 0


def _stand_in(match: re.Match[str]) -> str:
    """A space for what counts as whitespace (a form feed), so that no fragment changes; else U+FFFD."""
    return " " if match.group().isspace() else "\ufffd"
