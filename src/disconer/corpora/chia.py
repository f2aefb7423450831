"""Chia: eligibility criteria of 1,000 clinical trials, inclusion and exclusion apart (Kury et al. 2020).

    chia_without_scope/NCT00050349_exc.txt    the criteria, one per line
    chia_without_scope/NCT00050349_exc.ann    brat standoff

The corpus has no official split. Here it follows from the md5 of the trial's number, so that both documents of a
trial fall together: of each hundred values 80 are train, 10 dev, 10 test. A sentence is a line, unless `sentences`
says that lines with several are to be split and wrapped ones joined. Entities are those of the types that are
used to search trials; marks on whole criteria (Non-query-able, Parsing_Error, …) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from disconer.core.corpus import Corpus
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.corpora.recipe import SPLITS, Option, Recipe, hashed_split, not_the_source
from disconer.formats import read
from disconer.text import SPLITTERS, TOKENIZERS, segment

TYPES = frozenset(
    [
        "Condition", "Device", "Drug", "Measurement", "Mood", "Multiplier", "Negation", "Observation", "Person",
        "Procedure", "Qualifier", "Reference_point", "Temporal", "Value", "Visit",
    ]
)  # fmt: skip
_SOURCE = "chia_without_scope.zip, or its folder, with NCT*_inc and NCT*_exc, each as .txt and .ann"
_NAME = re.compile(r"(?:.*/)?((NCT[0-9]{8})_(?:inc|exc))")


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for document in read(source, "brat", ledger):
        match = _NAME.fullmatch(document.id)
        if match is None:
            raise not_the_source(source, f"{document.id!r} is not the name of a Chia document", _SOURCE)
        name, trial = match.groups()
        splits[hashed_split(trial)].append(_prepared(document, name, options["sentences"], ledger))
    if not any(splits.values()):
        raise not_the_source(source, "There are no Chia documents", _SOURCE)
    return Corpus({split: tuple(documents) for split, documents in splits.items()})


def _prepared(document: Document, name: str, splitter: str, ledger: Ledger) -> Document:
    kept = tuple(entity for entity in document.entities if entity.label in TYPES)
    ledger.lost("entities of other types", len(document.entities) - len(kept))
    return segment(Document(name, document.text, kept), SPLITTERS[splitter], TOKENIZERS["words"])


RECIPE = Recipe(
    name="chia",
    about="eligibility criteria of clinical trials, 15 types (CC BY 4.0; Kury et al. 2020)",
    source=_SOURCE,
    build=_build,
    options=(Option("sentences", ("lines", "rules"), "lines: each line, as is usual; rules: disconer's own splitter"),),
)
