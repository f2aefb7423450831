"""disconer in spaCy: the pipeline component "disconer", and spaCy's `Doc` to and from our `Document`.

Needs the extra `[spacy]`. Nothing here imports torch until a model is used.
"""

from disconer.spacy.accessors import add_accessors
from disconer.spacy.documents import to_doc, to_document
from disconer.spacy.groups import KEY, entities_of

add_accessors()

__all__ = ["KEY", "entities_of", "to_doc", "to_document"]
