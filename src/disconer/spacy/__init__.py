"""disconer in spaCy: the pipeline component "disconer", and spaCy's `Doc` to and from our `Document`.

Needs the extra `[spacy]`. Nothing here imports torch until a model is used.

May import `predict` and everything below it.
"""

from __future__ import annotations

from spacy.tokens import Doc

from disconer.core.types import Entity, Kind
from disconer.formats.docbin.documents import to_doc, to_document
from disconer.formats.docbin.groups import KEY, entities_of, is_ours


def all_entities(doc: Doc) -> tuple[Entity, ...]:
    """The entities of every span group that disconer wrote, and of the group named "disconer"."""
    keys = [key for key, group in doc.spans.items() if key == KEY or is_ours(group)]
    return tuple([entity for key in keys for entity in entities_of(doc, key)])


def discontinuous_entities(doc: Doc) -> tuple[Entity, ...]:
    """The discontinuous ones."""
    return tuple([entity for entity in all_entities(doc) if entity.kind is Kind.DISCONTINUOUS])


def add_accessors() -> None:
    """Register the accessors with spaCy, unless the name is already taken."""
    for name, getter in (("disconer", all_entities), ("discontinuous", discontinuous_entities)):
        if not Doc.has_extension(name):
            Doc.set_extension(name, getter=getter)


add_accessors()

__all__ = ["KEY", "entities_of", "to_doc", "to_document"]
