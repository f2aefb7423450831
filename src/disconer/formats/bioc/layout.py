"""The parts of a BioC document: as JSON has them, and as they lie in `Document.extras["bioc"]`.

{"collection": {"source": …, "date": …, "key": …, "infons": {…}},
 "infons": {…}, "relations": […], "annotations": […],
 "passages": [{"offset": 0, "length": 6, "infons": {…}, "relations": […], "annotations": […], "sentences": […]}],
 "mentions": {"T1": {"infons": {…}, "home": [0, 2]}}}

Every part may be absent. Relations and annotations are as in BioC JSON; annotations are those without a
location, which are not mentions. A sentence is described as a passage is; `length` is there if it has a text
of its own. `mentions` holds by an entity's id its infons (but type and score), and its `home` (passage, or
passage and sentence, or neither) if that is not the innermost part that it starts in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Fragment
from disconer.formats.jsonfiles import TYPE_NAMES

if TYPE_CHECKING:
    from bioc import BioCDocument, BioCPassage, BioCSentence

NAME = "bioc"
Home = list[int]  # [passage, sentence], [passage], or [] for the document itself


def layout_of(document: BioCDocument) -> dict[str, Any]:
    """The layout of a document without its mentions; empty if it is one passage of text and nothing else."""
    layout = _described(document)
    passages = [_described_passage(passage) for passage in document.passages]
    if len(passages) != 1 or passages[0].keys() - {"offset", "length"} or passages[0]["offset"] != 0:
        layout["passages"] = passages
    return layout


def _described_passage(passage: BioCPassage) -> dict[str, Any]:
    description = _placed(passage)
    if passage.sentences:
        description["sentences"] = [_placed(sentence) for sentence in passage.sentences]
    return description


def _placed(part: BioCPassage | BioCSentence) -> dict[str, Any]:
    length = {"length": len(part.text)} if part.text else {}
    return {"offset": part.offset, **length, **_described(part)}


def _described(part: BioCDocument | BioCPassage | BioCSentence) -> dict[str, Any]:
    from bioc.biocjson import toJSON

    described = {
        "infons": dict(part.infons),
        "relations": [toJSON(relation) for relation in part.relations],
        "annotations": [toJSON(annotation) for annotation in part.annotations if not annotation.locations],
    }
    return {name: value for name, value in described.items() if value}


def with_infons(document: BioCDocument) -> Iterator[Any]:
    """Every part of a document that has infons."""
    sentences = [sentence for passage in document.passages for sentence in passage.sentences]
    for part in [document, *document.passages, *sentences]:
        yield from (part, *part.annotations, *part.relations)


def texts_at(passages: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Offset and length of each passage's text, or of its sentences where it has none of its own."""
    for passage in passages:
        for part in [passage] if "length" in passage else passage.get("sentences", ()):
            yield part["offset"], part.get("length", 0)


class Homes:
    """Finds the passage, and the sentence if there are any, that a mention starts in."""

    def __init__(self, passages: Sequence[dict[str, Any]]) -> None:
        self._passages = [passage["offset"] for passage in passages]
        self._sentences = [[sentence["offset"] for sentence in passage.get("sentences", ())] for passage in passages]

    def of(self, fragments: Sequence[Fragment]) -> Home:
        if not self._passages:
            return []
        start = fragments[0].start
        passage = max(0, bisect_right(self._passages, start) - 1)
        sentence = bisect_right(self._sentences[passage], start) - 1
        return [passage, sentence] if sentence >= 0 else [passage]


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
    if type(value) is int and expected is str:
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
