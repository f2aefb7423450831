"""What must hold of every input: documents or errors of ours, and no loss without a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from disconer import BadInput, DisconerError, Document, Ledger, read, write
from disconer.text import segment
from disconer.text.alignment import align

LOSSLESS = ("jsonl", "parquet", "docbin")
NAMING = ("brat", "label-studio", "doccano")  # they give ids to entities without one, which is no loss
EXCHANGE = (
    *("bioc-xml", "bioc-json", "pubannotation", "bigbio", "prodigy", "cas-xmi", "cas-json", "webanno-tsv"),
    *NAMING,
)
TOKENS = {"bio": ".bio", "bioes": ".bioes", "biohd": ".biohd", "inline": ".inline", "w2ner": ".json", "dygie": ".dygie"}
SUFFIXES = {
    **dict.fromkeys(LOSSLESS, ""),
    "jsonl": ".jsonl",
    "parquet": ".parquet",
    "docbin": ".spacy",
    "bioc-xml": ".xml",
    "bioc-json": ".json",
    "pubannotation": ".jsonl",
    "bigbio": ".jsonl",
    "label-studio": ".json",
    "doccano": ".jsonl",
    "prodigy": ".jsonl",
    **dict.fromkeys(("brat", "cas-xmi", "cas-json", "webanno-tsv"), ""),
    **TOKENS,
}


# Losses that explain no change of text, labels or fragments.
BESIDE = (
    *("sentences with", "dependency", "brat ", "bioc ", "bigbio ", "pubannotation ", "conllu ", "dygie ", "w2ner "),
    *("label-studio ", "doccano ", "prodigy "),
    *("scores", "entity ids", "texts of normalisations", "roles of", "attributes", "fields", "documents'", "infons"),
)


class Finding(AssertionError):
    """Something that must not be."""


def check_reading(path: Path, format: str | None) -> list[Document]:
    """The documents of a file, invalid ones skipped; any error must be one of ours."""
    with suppress(DisconerError):
        for _ in read(path, format):
            pass
    ledger = Ledger(skip_bad=True)
    documents: list[Document] = []
    with suppress(DisconerError):
        documents.extend(read(path, format, ledger))
    return documents


def check_round_trip(documents: Sequence[Document], folder: Path, format: str) -> None:
    """What is written can be read back, and what is not the same was counted."""
    path = folder / f"out{SUFFIXES[format]}"
    ledger = Ledger(skip_bad=True)
    try:
        write(documents, path, format, ledger, force=True)
    except BadInput:
        return  # extras that do not fit: refused, and nothing written
    except DisconerError as error:
        raise Finding(f"not written: {error}") from error
    try:
        back = list(read(path, format, ledger := _both(ledger)))
    except DisconerError as error:
        raise Finding(f"what was written as {format} cannot be read back: {error}") from error
    before, after = _said(documents, format), _said(back, format)
    if before != after and not ledger.losses and not ledger.errors and not ledger.repairs:
        raise Finding(f"changed by {format} without a count:\n{_difference(before, after)}")
    excused = ledger.errors or ledger.repairs or any(not what.startswith(BESIDE) for what in ledger.losses)
    if format in EXCHANGE and not excused and _bare(documents) != _bare(back):
        raise Finding(f"text or entities changed by {format}, and only other things counted: {dict(ledger.losses)}")
    n_lost = (_entities(documents, format) - _entities(back, format)).total()
    n_counted = ledger.losses.total() + ledger.errors.total() + ledger.repairs.total()
    if n_lost > n_counted and not ledger.errors:
        raise Finding(f"{n_lost} entities lost by {format}, {n_counted} counted: {dict(ledger.losses)}")


def _both(written: Ledger) -> Ledger:
    """A ledger that raises at the first error, and starts with the counts of another."""
    ledger = Ledger()
    ledger.add(written)
    return ledger


def _said(documents: Sequence[Document], format: str) -> Any:
    """What a format must give back, unless it counts a loss."""
    if format in LOSSLESS:
        return list(documents)
    if format in EXCHANGE:
        found = [(document.id, document.text, Counter(_named(document, format))) for document in documents]
        return sorted(found, key=lambda item: item[:2])
    return [(document.id, *_in_tokens(document)) for document in documents]


def _bare(documents: Sequence[Document]) -> Any:
    return sorted(
        (document.id, document.text, sorted(Counter(e.key for e in document.entities).items()))
        for document in documents
    )


def _named(document: Document, format: str) -> list[Any]:
    """Entities; formats that give ids count those that they replace."""
    return [(entity.key, entity.score, format in NAMING or entity.id) for entity in document.entities]


def _in_tokens(document: Document) -> tuple[list[list[str]], list[Any]]:
    document = segment(document)
    aligned, _ = align(document)
    words = [[document.text[start:end] for start, end in sentence.tokens] for sentence in document.sentences or ()]
    return words, [Counter((entity.label, entity.ranges) for entity in own) for own in aligned]


def _entities(documents: Sequence[Document], format: str) -> Counter[Any]:
    if format in TOKENS:
        return Counter(key for document in documents for own in _in_tokens(document)[1] for key in own.elements())
    return Counter(entity.key for document in documents for entity in document.entities)


def _difference(before: Any, after: Any) -> str:
    if len(before) != len(after):
        return f"{len(before)} documents became {len(after)}"
    return next(f"{one!r}\nbecame\n{other!r}" for one, other in zip(before, after, strict=True) if one != other)


def check_model_configuration(folder: Path) -> None:
    """config.json of a model folder: refused, or good enough to build from."""
    from disconer.config import config_from_dict
    from disconer.store.description import read_description, read_scale

    with suppress(DisconerError):
        description = read_description(folder)
        config_from_dict(description["config"], "config.json")
        read_scale(description, folder)
