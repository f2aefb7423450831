"""CRAFT 5: full-text articles, mentions of the concepts of eleven ontologies, gold sentences and trees.

Knowtator 1, every ontology but MONDO:
    <annotations textSource="1.txt"><annotation><mention id="a"/><span start="0" end="7"/><span start="12" end="17"/>
      <spannedText>somatic ... cells</spannedText></annotation> … </annotations>
Knowtator 2, MONDO:
    <knowtator-project><document id="1"><annotation id="a"><class id="…"/><span start="0" end="7">somatic</span> …

    CRAFT-5.0.2/articles/ids/craft-ids-train.txt                             the official split, one id per line
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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from disconer.core.corpus import Corpus
from disconer.core.derived import surface_fits
from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Entity
from disconer.corpora.recipe import SPLITS, Recipe, files_of, missing_document, not_the_source, unique
from disconer.formats import read
from disconer.formats.entities import build_entity
from disconer.formats.source import Member
from disconer.formats.xml import parse_xml

_ELLIPSIS = " ... "  # between the fragments of a mention's text in Knowtator 1
_N_COLUMNS = 10  # of a CoNLL-U line


class Mention(NamedTuple):
    """A concept's place in the text and, as the file has it, its words."""

    pairs: tuple[tuple[int, int], ...]
    surface: str


def read_mentions(file: Member) -> Iterator[Mention]:
    """The mentions of a Knowtator file."""
    root = parse_xml(file.read(), file.origin)
    if root.tag not in ("annotations", "knowtator-project"):
        raise BadInput(
            "bad-syntax",
            "This is not a Knowtator file",
            where=Where(file.origin),
            got=f"<{root.tag}>",
            expected="<annotations> (Knowtator 1) or <knowtator-project> (Knowtator 2)",
        )
    for annotation in root.iter("annotation"):
        spans = annotation.findall("span")
        texts = [annotation.findtext("spannedText", "").replace(_ELLIPSIS, " ")]
        if root.tag == "knowtator-project":
            texts = [span.text or "" for span in spans]
        yield Mention(tuple(_offsets(span, file) for span in spans), " ".join(texts))


def _offsets(span: Element, file: Member) -> tuple[int, int]:
    try:
        return int(span.attrib["start"]), int(span.attrib["end"])
    except (KeyError, ValueError) as error:
        raise BadInput(
            "bad-syntax",
            "A <span> needs a start and an end, both numbers",
            where=Where(file.origin),
            got=excerpt(span.attrib),
        ) from error


class Word(NamedTuple):
    """A line of CoNLL-U: the word, its head (0-based, -1 for the root) and the relation to it."""

    line: int
    form: str
    head: int
    relation: str


def read_sentences(file: Member, text: str) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, its words found in the text one after the other."""
    end = 0
    for words in _blocks(file):
        tokens = []
        for word in words:
            start = _skip_blanks(text, end)
            end = start + len(word.form)
            if text[start:end] != word.form:
                raise BadInput(
                    "text-mismatch",
                    "The words of this file differ from the article",
                    where=Where(file.origin, word.line, start),
                    got=excerpt(word.form),
                    expected=excerpt(text[start : start + len(word.form) + 10]),
                    fix="Check that articles and trees are of the same version of the corpus.",
                )
            tokens.append(Token(start, end))
        try:
            heads, relations = [word.head for word in words], [word.relation for word in words]
            yield Sentence(tokens[0].start, tokens[-1].end, tuple(tokens), tuple(heads), tuple(relations))
        except ValueError as error:
            raise BadInput("bad-syntax", str(error), where=Where(file.origin, words[0].line)) from error


def _skip_blanks(text: str, start: int) -> int:
    while text[start : start + 1].isspace():
        start += 1
    return start


def _blocks(file: Member) -> Iterator[list[Word]]:
    """The sentences of a CoNLL-U file. Its comments, and the lines of contractions and empty nodes, are skipped."""
    block: list[Word] = []
    for number, line in file.lines():
        if not line.strip():
            if block:
                yield block
            block = []
        elif not line.startswith("#"):
            word = _word(line, Where(file.origin, number))
            if word is not None:
                block.append(word)
    if block:
        yield block


def _word(line: str, where: Where) -> Word | None:
    columns = line.split("\t")
    if len(columns) == _N_COLUMNS and not columns[0].isdecimal():  # 3-4 a contraction, 8.1 an empty node
        return None
    if len(columns) != _N_COLUMNS or not columns[6].isdecimal() or not columns[1].strip():
        raise BadInput(
            "bad-syntax",
            "This is not a line of CoNLL-U",
            where=where,
            got=excerpt(line),
            expected=f"{_N_COLUMNS} columns separated by tabs, the second a word, the seventh the number of its head",
        )
    return Word(where.line or 0, columns[1], int(columns[6]) - 1, columns[7])


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
            ledger.error(error)
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
