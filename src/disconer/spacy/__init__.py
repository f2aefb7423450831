"""disconer in spaCy: the pipeline component "disconer", and spaCy's `Doc` to and from our `Document`.

Needs the extra `[spacy]`. Nothing here imports torch until a model is used.

May import `predict` and everything below it.
"""

from disconer.formats.docbin.documents import to_doc, to_document
from disconer.formats.docbin.groups import KEY, entities_of
from disconer.spacy.accessors import add_accessors

add_accessors()

__all__ = ["KEY", "entities_of", "to_doc", "to_document"]
