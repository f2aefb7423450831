"""CADEC: posts about drugs from the forum AskaPatient, annotated for adverse reactions (Karimi et al. 2015).

    cadec/text/LIPITOR.1.txt        the posts
    cadec/original/LIPITOR.1.ann    brat-like T lines, `#` notes
    cadec/sct, cadec/meddra         the same mentions normalised; not read

As Dai et al. (2020) have it: ADR mentions only, a sentence is a line, mentions that cut a word are widened to all of
it, and where the text of a mention differs from the text at its offsets (some fifty times, mostly in the order of the
fragments), the offsets are right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from disconer.core.corpus import Corpus
from disconer.core.derived import surface_fits
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity
from disconer.corpora.recipe import (
    SPLITS,
    Option,
    Recipe,
    files_of,
    missing_document,
    not_the_source,
    split_ids,
    to_whole_words,
    unix_text,
)
from disconer.formats.brat.lines import TEXT_BOUND, TextBound, parse_text_bound
from disconer.formats.entities import build_entity
from disconer.formats.source import Member
from disconer.text import SPLITTERS, segment

_SOURCE = "the CADEC v2 zip of CSIRO, or its folder, with cadec/text/*.txt and cadec/original/*.ann"
_FILE = re.compile(r"(?:.*/)?(?:(text)/([^/]+)\.txt|(original)/([^/]+)\.ann)")
_TYPES = ("ADR", "Disease", "Drug", "Finding", "Symptom")
_TYPES_OF = {"ADR": ("ADR",), "all": _TYPES}


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    texts, annotations = _layers(source)
    labels = _TYPES_OF[options["types"]]
    splits: dict[str, list[Document]] = {}
    for split in SPLITS:
        documents = splits[split] = []
        for id in split_ids("cadec", split):
            if id not in texts or id not in annotations:
                part = "text/{}.txt" if id not in texts else "original/{}.ann"
                ledger.error(missing_document(source, id, f"There is no {part.format(id)}", _SOURCE))
                continue
            try:
                documents.append(_document(id, texts[id], annotations[id], labels, ledger))
            except BadInput as error:
                ledger.error(error)
    return Corpus({split: tuple(documents) for split, documents in splits.items()})


def _layers(source: Path) -> tuple[dict[str, Member], dict[str, Member]]:
    """Texts and annotations by document id."""
    layers: dict[str, dict[str, Member]] = {"text": {}, "original": {}}
    for member in files_of(source, lambda name: _FILE.fullmatch(name) is not None):
        match = _FILE.fullmatch(member.name)
        assert match is not None  # they were chosen so
        folder, id = (group for group in match.groups() if group is not None)
        layers[folder].setdefault(id, member)
    for folder, found in layers.items():
        if not found:
            raise not_the_source(source, f"There is no folder {folder!r} with posts in it", _SOURCE)
    return layers["text"], layers["original"]


def _document(id: str, text_file: Member, ann_file: Member, labels: tuple[str, ...], ledger: Ledger) -> Document:
    text = unix_text(text_file)
    entities = []
    for number, line in ann_file.lines():
        bound = _text_bound(line, Where(ann_file.origin, number), ledger) if line.startswith(TEXT_BOUND) else None
        if bound is not None and bound.label in labels:
            entities.append(_entity(bound, text, ann_file.origin, number, ledger))
    kept = tuple(entity for entity in entities if entity is not None)
    return to_whole_words(segment(Document(id, text, kept), SPLITTERS["lines"]), ledger)


def _text_bound(line: str, where: Where, ledger: Ledger) -> TextBound | None:
    bound = parse_text_bound(line)
    if bound is None or bound.label not in _TYPES:
        ledger.error(
            BadInput(
                "bad-syntax",
                "This is not a mention of CADEC",
                where=where,
                got=excerpt(line),
                expected=f"'T1<tab>TYPE start end;start end<tab>text' with TYPE one of {', '.join(_TYPES)}",
            )
        )
        return None
    return bound


def _entity(bound: TextBound, text: str, path: str, line: int, ledger: Ledger) -> Entity | None:
    entity = build_entity(bound.label, bound.pairs, text, ledger=ledger, path=path, line=line, id=bound.id)
    if entity is not None and not surface_fits(bound.pairs, text, bound.surface):
        ledger.repaired("mention texts replaced by the text at their offsets")
    return entity


RECIPE = Recipe(
    name="cadec",
    about="adverse drug reactions in forum posts (CSIRO Data Licence; Karimi et al. 2015, split of Dai et al. 2020)",
    source=_SOURCE,
    build=_build,
    options=(Option("types", tuple(_TYPES_OF), "ADR mentions only, or all five types"),),
    paper=(875, 187, 188),
)
