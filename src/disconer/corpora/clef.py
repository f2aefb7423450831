"""ShARe/CLEF eHealth 2013 task 1: disorders in intensive-care notes of MIMIC II (Suominen et al. 2013).

`clef` is the corpus as Dai et al. (2020) have it: the official training set, less their development notes, and the
official test set. `clef-dis` is what Muis and Lu (2016) made of it and of SemEval-2014 task 7: only sentences that
have a discontinuous entity, the training set for training, the test set for development, the new notes for test.
A mention with several CUIs is one entity. `clef_files` says what the downloads look like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from disconer.core.corpus import Corpus
from disconer.core.derived import surface_fits
from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document, Entity, Fragment, Kind
from disconer.corpora.clef_files import Files, Mention, Note, dai, find_files, mentions
from disconer.corpora.recipe import (
    Option,
    Recipe,
    missing_document,
    not_the_source,
    split_ids,
    to_whole_words,
    unique,
    unix_text,
)
from disconer.formats.entities import build_entity
from disconer.formats.source import Member
from disconer.text import SPLITTERS, Splitter, segment

_LABEL = "Disorder"
_SPLITTERS: dict[str, Splitter] = {"dai": dai, "rules": SPLITTERS["rules"]}
_SOURCE = (
    "the ShARe/CLEF eHealth 2013 download of PhysioNet (.zip or folder) with Task1TrainSetCorpus199, "
    "Task1TrainSetGOLD199knowtatorehost, Task1TestSetCorpus100 and Task1Gold_SN2012, packed or unpacked"
)
_SOURCE_DIS = (
    f"a folder with {_SOURCE}, and beside it a later release with 133 more notes: SemEval-2014 task 7 or "
    "SemEval-2015 task 14 (.text and .pipe files), or ShARe/CLEF 2014 task 2 (in a folder or archive named 2014)"
)
_SENTENCES = Option(
    "sentences",
    tuple(_SPLITTERS),
    "dai: a line, a long one cut at stops before capitals, as Dai et al. 2020; rules: disconer's own splitter",
)


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    files = _files(source, _SOURCE)
    ledger.lost("notes without an annotation file", files.without_annotations())
    splitter = _SPLITTERS[options["sentences"]]
    documents = {document.id: document for document in _read(files.notes("train"), splitter, source, ledger)}
    dev = split_ids("clef", "dev")
    for id in dev:
        if id not in files.train:
            ledger.error(missing_document(source, id, "A note of the development split is missing", _SOURCE))
    return Corpus(
        {
            "train": tuple(document for id, document in documents.items() if id not in dev),
            "dev": tuple(documents[id] for id in dev if id in documents),
            "test": tuple(_read(files.notes("test"), splitter, source, ledger)),
        }
    )


def _build_dis(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    files = _files(source, _SOURCE_DIS)
    new = list(files.new_notes())
    if not new:
        raise not_the_source(
            source,
            f"None of the {len(files.later)} notes of a later release is new after ShARe/CLEF 2013",
            _SOURCE_DIS,
        )
    splitter = _SPLITTERS[options["sentences"]]
    notes = {"train": files.notes("train"), "dev": files.notes("test"), "test": new}
    return Corpus(
        {
            split: tuple(
                sentence
                for document in _read(found, splitter, source, ledger)
                for sentence in _discontinuous_sentences(document, ledger)
            )
            for split, found in notes.items()
        }
    )


def _files(source: Path, expected: str) -> Files:
    files = find_files(source)
    for found, what in (
        (files.texts, "no notes (NNNNN-NNNNNN-DISCHARGE_SUMMARY.txt and similar)"),
        (files.train, "no annotations of the training set (*.knowtator.xml or *.pipe.txt)"),
        (files.test, "no annotations of the test set (Gold_SN2012/*.txt)"),
    ):
        if not found:
            raise not_the_source(source, f"There are {what}", expected)
    return files


def _read(notes: Iterable[Note], splitter: Splitter, source: Path, ledger: Ledger) -> Iterator[Document]:
    for note in notes:
        if note.text is None:
            ledger.error(missing_document(source, note.id, "The text of an annotated note is missing", _SOURCE))
            continue
        try:
            yield _document(note.id, note.text, note.annotations, splitter, ledger)
        except BadInput as error:
            ledger.error(error)


def _document(id: str, text_file: Member, annotations: Member, splitter: Splitter, ledger: Ledger) -> Document:
    text = unix_text(text_file)
    entities = [
        _entity(mention, f"T{number}", text, annotations.origin, ledger)
        for number, mention in enumerate(mentions(annotations, ledger), 1)
    ]
    document = Document(id, text, tuple(entity for entity in entities if entity is not None))
    document = to_whole_words(segment(document, splitter), ledger)
    return document.replace(entities=unique(document.entities, ledger))


def _entity(mention: Mention, id: str, text: str, path: str, ledger: Ledger) -> Entity | None:
    entity = build_entity(_LABEL, mention.pairs, text, ledger=ledger, path=path, line=mention.line, id=id)
    if entity is not None and mention.surface and not surface_fits(mention.pairs, text, mention.surface):
        ledger.repaired("mention texts replaced by the text at their offsets")
    return entity


def _discontinuous_sentences(document: Document, ledger: Ledger) -> Iterator[Document]:
    """Each sentence with a discontinuous entity as a document of its own."""
    placed = 0
    for number, sentence in enumerate(document.sentences or ()):
        inside = [e for e in document.entities if sentence.start <= e.start and e.end <= sentence.end]
        placed += len(inside)
        if any(entity.kind is Kind.DISCONTINUOUS for entity in inside):
            yield _alone(document, number, sentence, inside)
    ledger.lost("entities that cross sentences", len(document.entities) - placed)


def _alone(document: Document, number: int, sentence: Sentence, entities: list[Entity]) -> Document:
    at = sentence.start
    tokens = tuple(Token(start - at, end - at) for start, end in sentence.tokens)
    return Document(
        id=f"{document.id}.{number}",
        text=document.text[at : sentence.end],
        entities=tuple(
            replace(entity, fragments=tuple(Fragment(start - at, end - at) for start, end in entity.fragments))
            for entity in entities
        ),
        sentences=(Sentence(0, sentence.end - at, tokens),),
        extras={"clef-dis": {"note": document.id, "start": at}},
    )


CLEF = Recipe(
    name="clef",
    about="disorders in clinical notes (PhysioNet credentialed; Suominen et al. 2013, split of Dai et al. 2020)",
    source=_SOURCE,
    build=_build,
    options=(_SENTENCES,),
    paper=(179, 20, 99),
    remark="The list of development notes that Dai et al. published has 19 ids, which gives 180/19/99.",
)

CLEF_DIS = Recipe(
    name="clef-dis",
    about="the sentences of ShARe/CLEF 2013 and SemEval-2014 with discontinuous disorders (Muis and Lu 2016)",
    source=_SOURCE_DIS,
    build=_build_dis,
    options=(_SENTENCES,),
    counts_sentences=True,
    paper=(534, 303, 430),
    remark="The count depends on the sentence splitter; the one of Muis and Lu is not known.",
)
