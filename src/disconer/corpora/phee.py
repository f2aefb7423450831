"""PHEE: sentences of pharmacovigilance case reports, with events and their arguments (Sun et al. 2022).

    clean/train/10048291_1.txt    a sentence
    clean/train/10048291_1.ann    brat standoff: triggers, arguments, sub-arguments

The split is the official one, train, dev and test being folders. Every T line is an entity: triggers
(Adverse_event, Potential_therapeutic_event), arguments (Subject, Treatment, Effect) and sub-arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from disconer.core.corpus import Corpus
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.corpora.recipe import SPLITS, Recipe, not_the_source
from disconer.formats import read
from disconer.text import SPLITTERS, TOKENIZERS, segment

_SOURCE = "phee.zip, or its folder, with train, dev and test, each a folder of .txt and .ann"


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for document in read(source, "brat", ledger):
        path = PurePosixPath(document.id)
        if path.parent.name not in splits:
            raise not_the_source(source, f"{document.id!r} is not in the folder of a split", _SOURCE)
        named = Document(path.name, document.text, document.entities)
        splits[path.parent.name].append(segment(named, SPLITTERS["lines"], TOKENIZERS["words"]))
    for split, documents in splits.items():
        if not documents:
            raise not_the_source(source, f"There is no folder {split!r} with sentences in it", _SOURCE)
    return Corpus({split: tuple(documents) for split, documents in splits.items()})


RECIPE = Recipe(
    name="phee",
    about="events in pharmacovigilance case reports (MIT; Sun et al. 2022)",
    source=_SOURCE,
    build=_build,
    counts_sentences=True,
)
