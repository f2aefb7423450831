"""PsyTAR: what patients wrote about four psychiatric drugs (Zolnoori et al. 2019).

    Sentence_Labeling                     drug_id, sentence_index, sentences: the posts, a sentence a row
    ADR_Identified, WD_…, SSI_…, DI_…     drug_id, sentence_index, ADR1, ADR2, …: mentions in a sentence

Mentions are strings without offsets. Each is searched for in its sentence (see `locate`); what is not found there is
left out and counted. A document is a post: its sentences, one per line, because some of them end without punctuation.
The corpus has no official split. Here it follows from the md5 of the post's drug_id: of each hundred values 80 are
train, 10 dev, 10 test.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Corpus, Document, Entity, Fragment, Sentence
from disconer.corpora.distribution import files_of, not_the_source
from disconer.corpora.locate import locate
from disconer.corpora.recipe import SPLITS, Recipe, hashed_split, unique
from disconer.corpora.xlsx import Row, Workbook
from disconer.text import TOKENIZERS

LABELS = ("ADR", "WD", "SSI", "DI")
_SOURCE = "PsyTAR_dataset.xlsx, or a folder or archive with it"
_POST, _INDEX, _TEXT = _KEYS = ("drug_id", "sentence_index", "sentences")
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")

Mentions = dict[str, list[str]]  # of a sentence, by label


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    found = files_of(source, lambda name: name.lower().endswith(".xlsx"))
    if len(found) != 1:
        raise not_the_source(source, f"There are {len(found)} .xlsx files, expected one", _SOURCE)
    posts = _posts(Workbook(found[0]), ledger)
    splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
    for name, sentences in posts.items():
        document = _document(name, sentences, ledger)
        if document.text:
            splits[hashed_split(name)].append(document)
        else:
            ledger.lost("posts without text")
    return Corpus({split: tuple(documents) for split, documents in splits.items()})


def _posts(workbook: Workbook, ledger: Ledger) -> dict[str, list[tuple[str, Mentions]]]:
    """The sentences of each post with their mentions."""
    posts: dict[str, list[tuple[str, Mentions]]] = defaultdict(list)
    by_index: dict[tuple[str, str], list[tuple[str, Mentions]]] = defaultdict(list)
    for row in workbook.rows("Sentence_Labeling", _KEYS):
        if _POST in row.cells:  # the last row has none: it holds sums
            sentence: tuple[str, Mentions] = (_one_line(row), {})
            posts[row.cells[_POST]].append(sentence)
            by_index[_key(row)].append(sentence)
    for label in LABELS:
        sheet = f"{label}_Identified"
        for row in workbook.rows(sheet, (*_KEYS, f"{label}1")):
            mentions = [
                text for name, text in row.cells.items() if re.fullmatch(f"{label}[0-9]+", name) and text.strip()
            ]
            # An index occurs twice in a post: then the text tells.
            sentences = sorted(by_index.get(_key(row), ()), key=lambda sentence: sentence[0] != _one_line(row))
            if sentences:
                sentences[0][1].setdefault(label, []).extend(mentions)
            elif mentions:
                ledger.fault(_stray(row, sheet, workbook.origin))
    return posts


def _key(row: Row) -> tuple[str, str]:
    return row.cells.get(_POST, ""), row.cells.get(_INDEX, "")


def _one_line(row: Row) -> str:
    return _LINE_BREAK.sub(" ", row.cells.get(_TEXT, "")).strip()


def _stray(row: Row, sheet: str, origin: str) -> BadInput:
    return BadInput(
        "missing-sentence",
        f"The sentence of row {row.number} in the sheet {sheet!r} is not in 'Sentence_Labeling'",
        where=Where(origin, document=row.cells.get(_POST)),
        got=f"{_INDEX} {excerpt(row.cells.get(_INDEX, ''))}",
        fix="Check that it is the original workbook, or skip such mentions with --skip-bad.",
    )


def _document(name: str, sentences: Sequence[tuple[str, Mentions]], ledger: Ledger) -> Document:
    kept = [(text, mentions) for text, mentions in sentences if text]
    ledger.lost("sentences without text", len(sentences) - len(kept))
    text = "\n".join(text for text, _ in kept)
    placed: list[Sentence] = []
    entities: list[Entity] = []
    start = 0
    for line, mentions in kept:
        end = start + len(line)
        placed.append(Sentence(start, end, TOKENIZERS["words"](text, start, end)))
        for label, strings in mentions.items():
            entities += _entities(label, strings, line, start, ledger)
        start = end + 1
    entities.sort(key=lambda entity: entity.fragments)
    return Document(name, text, unique(entities, ledger), tuple(placed))


def _entities(label: str, mentions: list[str], sentence: str, offset: int, ledger: Ledger) -> list[Entity]:
    places = [place for place in locate(mentions, sentence) if place is not None]
    ledger.lost("mentions that are not found in their sentence", len(mentions) - len(places))
    ledger.repaired("mentions spelt differently in their sentence", sum(place.respelt for place in places))
    return [
        Entity(label, tuple(Fragment(start + offset, end + offset) for start, end in place.fragments))
        for place in places
    ]


RECIPE = Recipe(
    name="psytar",
    about="patients' posts on four psychiatric drugs, 4 types (CC BY 4.0; Zolnoori et al. 2019)",
    source=_SOURCE,
    build=_build,
)
