"""What formats lose of a document: extras of other formats, trees, lone surrogates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence
from disconer.core.types import Document

SENTENCES = "sentences with their tokens"
TREES = "dependency trees"
_BRAT_LINES = {
    "R": "relations",
    "*": "equivalences",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalisations",
    "#": "notes",
}


def note_unsaid(
    document: Document, extras_kept: str, ledger: Ledger, translated: Mapping[str, int] | None = None
) -> None:
    """Count what is lost of a document in a format that holds text, entities and its own extras.

    translated: of other formats' extras, what it says in its own way, by the same names.
    """
    ledger.lost(SENTENCES, len(document.sentences or ()))
    for name, extras in document.extras.items():
        if name != extras_kept:
            for what, times in _contents(extras).items():
                ledger.lost(f"{name} {what}", times - (translated or {}).get(f"{name} {what}", 0))


def _contents(extras: Any) -> Counter[str]:
    """The number of things in extras, by name."""
    if not isinstance(extras, dict):
        return Counter({"extras": 1})
    contents: Counter[str] = Counter()
    for name, value in extras.items():
        if name == "lines" and isinstance(value, list):  # brat's, of which T lines are entities
            contents.update(_BRAT_LINES[kind] for line in value if (kind := str(line)[:1]) in _BRAT_LINES)
        else:
            contents[name] += len(value) if isinstance(value, list | dict) else 1
    return contents


def note_trees(document: Document, ledger: Ledger) -> None:
    """Count the dependency trees of a document as lost."""
    ledger.lost(TREES, sum(sentence.heads is not None for sentence in document.sentences or ()))


@contextmanager
def carried(document: Document, name: str) -> Iterator[dict[str, Any]]:
    """The extras of that name, to be used within the block.

    They come from files that users edit: if they are not as we write them, that is an error message, not a traceback.
    """
    try:
        yield dict(document.extras.get(name, {}))
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise BadInput(
            "bad-syntax",
            f"The {name} extras of this document are invalid",
            where=Where(document=document.id),
            got=excerpt(repr(error)),
            fix=f'Remove "{name}" from its extras, or read the document from its own file again.',
        ) from error


REPEATED_IDS = "entity ids that occur twice, made unique"


def with_unique_ids(document: Document, ledger: Ledger) -> Document:
    """The document with another id for each entity whose id an earlier one has, as most formats need."""
    ids = [entity.id for entity in document.entities if entity.id is not None]
    taken = set(ids)
    if len(taken) == len(ids):
        return document
    seen: set[str] = set()
    entities = []
    for entity in document.entities:
        if entity.id is not None and entity.id in seen:
            id = next(name for number in count(2) if (name := f"{entity.id}-{number}") not in taken)
            entity = replace(entity, id=id)
            ledger.repaired(REPEATED_IDS)
            taken.add(id)
        if entity.id is not None:
            seen.add(entity.id)
        entities.append(entity)
    return document.replace(entities=tuple(entities))


_HALF_PAIR = re.compile("[\ud800-\udfff]")


def without_halves(document: Document) -> tuple[Document, int]:
    """The document with U+FFFD for each lone surrogate, so that every offset stays right; and how many there were."""
    sentences = document.sentences or ()
    strings = [document.id, document.text]
    strings += [text for entity in document.entities for text in (entity.label, entity.id or "")]
    strings += [relation for sentence in sentences for relation in sentence.relations or ()]
    n_halves = sum(len(_HALF_PAIR.findall(string)) for string in strings)
    if not n_halves:
        return document, 0
    cleaned = document.replace(
        id=replace_halves(document.id),
        text=replace_halves(document.text),
        entities=tuple(
            replace(entity, label=replace_halves(entity.label), id=entity.id and replace_halves(entity.id))
            for entity in document.entities
        ),
        sentences=document.sentences and tuple(map(_clean_relations, sentences)),
    )
    return cleaned, n_halves


def replace_halves(string: str) -> str:
    """The string with U+FFFD for each lone surrogate."""
    return _HALF_PAIR.sub("\ufffd", string)


def _clean_relations(sentence: Sentence) -> Sentence:
    return replace(sentence, relations=sentence.relations and tuple(map(replace_halves, sentence.relations)))
