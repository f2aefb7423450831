"""CRAFT 5: full-text articles, mentions of the concepts of eleven ontologies, gold sentences and trees.

    CRAFT-5.0.2/articles/ids/craft-ids-train.txt                             the official split, an id a line
    CRAFT-5.0.2/articles/txt/11604102.txt                                    the articles
    CRAFT-5.0.2/concept-annotation/CL/CL/knowtator/11604102.txt.knowtator.xml
    CRAFT-5.0.2/concept-annotation/MONDO/MONDO_without_genotype_annotations/knowtator-2/11604102.xml
    CRAFT-5.0.2/structural-annotation/dependency/conllu/11604102.conllu      sentences, words, trees

The label of a mention is its ontology. The sets with extension classes, and the diseases that a genotype stands
for, are not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.core.types import Corpus, Document, Entity
from disconer.corpora.craft_layers import read_mentions, read_sentences
from disconer.corpora.distribution import files_of, missing_document, not_the_source
from disconer.corpora.recipe import SPLITS, Recipe
from disconer.corpora.tidy import unique
from disconer.formats import read
from disconer.formats.entities import build_entity, surface_fits
from disconer.formats.source import Member

ONTOLOGIES = ("CHEBI", "CL", "GO_BP", "GO_CC", "GO_MF", "MOP", "NCBITaxon", "PR", "SO", "UBERON")
LABELS = (*ONTOLOGIES, "MONDO")
_SOURCE = (
    "CRAFT 5.0.2 (its zip or tar.gz from GitHub, or the folder), "
    "or a folder with train.jsonl, dev.jsonl and test.jsonl (.gz) made from it"
)
_IDS, _TEXT, _TREES = "ids", "txt", "conllu"  # layers beside those of the ontologies
_LAYERS = {
    rf"articles/ids/craft-ids-({'|'.join(SPLITS)})\.txt": _IDS,
    r"articles/txt/(\d+)\.txt": _TEXT,
    r"structural-annotation/dependency/conllu/(\d+)\.conllu": _TREES,
    r"concept-annotation/MONDO/MONDO_without_genotype_annotations/knowtator-2/(\d+)\.xml": "MONDO",
} | {rf"concept-annotation/{name}/{name}/knowtator/(\d+)\.txt\.knowtator\.xml": name for name in ONTOLOGIES}

Layers = dict[str, dict[str, Member]]  # layer -> split or document id -> file


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    converted = {split: file for split in SPLITS if (file := _converted(source, split))}
    if len(converted) == len(SPLITS):
        return Corpus({split: tuple(read(file, "jsonl", ledger)) for split, file in converted.items()})
    layers = _layers(source)
    return Corpus({split: tuple(_documents(source, layers, split, ledger)) for split in SPLITS})


def _converted(source: Path, split: str) -> Path | None:
    for name in (f"{split}.jsonl", f"{split}.jsonl.gz"):
        if (source / name).is_file():
            return source / name
    return None


def _place(name: str) -> tuple[str, str] | None:
    """The layer and the key (split or document id) of a file of the distribution, None if it is not read."""
    for pattern, layer in _LAYERS.items():
        if match := re.fullmatch(rf"(?:.*/)?{pattern}", name):
            return layer, match.group(1)
    return None


def _layers(source: Path) -> Layers:
    layers: Layers = defaultdict(dict)
    for member in files_of(source, lambda name: _place(name) is not None):
        place = _place(member.name)
        assert place is not None  # they were chosen so
        layers[place[0]][place[1]] = member
    for pattern, layer in _LAYERS.items():
        if layer not in layers:
            raise not_the_source(source, f"There is no folder {pattern.rpartition('/')[0]} with files in it", _SOURCE)
    return layers


def _documents(source: Path, layers: Layers, split: str, ledger: Ledger) -> list[Document]:
    if split not in layers[_IDS]:
        raise not_the_source(source, f"There is no articles/ids/craft-ids-{split}.txt", _SOURCE)
    documents = []
    for id in layers[_IDS][split].text().split():
        missing = [layer for layer in (_TEXT, _TREES, *LABELS) if id not in layers[layer]]
        try:
            if missing:
                raise missing_document(source, id, f"Its files are missing: {', '.join(missing)}", _SOURCE)
            documents.append(_document(id, layers, ledger))
        except BadInput as error:
            ledger.fault(error)
    return documents


def _document(id: str, layers: Layers, ledger: Ledger) -> Document:
    text = layers[_TEXT][id].text()
    sentences = tuple(read_sentences(layers[_TREES][id], text))
    entities: list[Entity] = []
    for label in LABELS:
        file = layers[label][id]
        for mention in read_mentions(file):
            entity = build_entity(label, mention.pairs, text, ledger=ledger, path=file.origin)
            if entity is not None:
                entities.append(entity)
                if not surface_fits(mention.pairs, text, mention.surface):
                    ledger.repaired("mention texts replaced by the text at their offsets")
    entities.sort(key=lambda entity: (entity.fragments, entity.label))
    return Document(id, text, unique(entities, ledger), sentences)


RECIPE = Recipe(
    name="craft",
    about="CRAFT 5.0.2: 97 full-text articles, concepts of 11 ontologies, gold trees; CC BY 3.0, Univ. of Colorado",
    source=_SOURCE,
    build=_build,
)
