r"""brat standoff: `doc.txt` and `doc.ann` side by side, in a folder, its sub-folders or a .zip.

Entities are the T lines of the .ann. What else it holds (relations, events, attributes, notes, equivalences,
ids, the order of lines, blank lines, line ends) goes to `extras["brat"]` and comes back byte for byte where
nothing was changed:

    {"lines": ["T1", "R1\tHas_value Arg1:T1 Arg2:T2", "T2\tDrug 9 14;0 4\tfragments out of order", ""],
     "newline": "\r\n", "bom": true}

`lines` has an item for each line; a T line that can be made from its entity is there only by its id.
`newline` and `bom` are there only if they are not "\n" and false. A file that is nothing but the T lines of
the entities, in order, leaves no record. brat has no place for scores and sentences: they are not written.

The text of a T line must be the text at its offsets, but for whitespace and the order of fragments. Two harmless
kinds of damage are accepted and counted (see `files`); all else is an error.

The .a1 and .a2 of the BioNLP shared tasks are read as if they were one .ann.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.brat.files import annotation_text, read_document
from disconer.formats.format import Format
from disconer.formats.source import Member, Source
from disconer.formats.target import new_folder, new_path

_TEXT = ".txt"
_ANNOTATIONS = (".ann", ".a1", ".a2")


def _read(source: Source, ledger: Ledger) -> Iterator[Document]:
    files: dict[str, dict[str, Member]] = {}  # document id -> suffix -> member
    for member in source:
        if member.suffix in (_TEXT, *_ANNOTATIONS):
            files.setdefault(member.stem, {})[member.suffix] = member
    annotated = {_folder(id) for id, parts in files.items() if parts.keys() - {_TEXT}}
    for id, parts in files.items():
        text_file = parts.pop(_TEXT, None)
        try:
            if text_file is None:
                raise _missing(next(iter(parts.values())), _TEXT, "Add it")
            if parts:
                yield read_document(
                    id, text_file, [parts[suffix] for suffix in _ANNOTATIONS if suffix in parts], ledger
                )
            elif _folder(id) in annotated or not annotated:  # elsewhere a text may be a README
                raise _missing(text_file, ".ann", "Add it, empty if the text has no annotations")
        except BadInput as error:
            ledger.error(error)


def _folder(id: str) -> str:
    return id.rpartition("/")[0]


def _missing(member: Member, suffix: str, fix: str) -> BadInput:
    return BadInput(
        "missing-file",
        f"The {suffix} file of this document is missing",
        where=Where(member.origin),
        expected=f"{PurePosixPath(member.stem).name}{suffix} next to it",
        fix=f"{fix}, move this file elsewhere, or skip such documents with --skip-bad.",
    )


def _write(documents: Iterable[Document], path: Path, ledger: Ledger) -> None:
    if path.suffix.lower() in (_TEXT, *_ANNOTATIONS):
        raise DisconerError(
            "brat is written as a folder of .txt and .ann files", where=Where(str(path)), fix="Name a folder."
        )
    with new_folder(path) as folder:
        for document in documents:
            try:
                _write_document(document, folder, ledger)
            except BadInput as error:
                ledger.error(error)


def _write_document(document: Document, folder: Path, ledger: Ledger) -> None:
    text_path = new_path(folder, document.id, _TEXT, ledger)
    try:
        text, content = document.text.encode("utf-8"), annotation_text(document, ledger).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInput(
            "bad-encoding",
            "This document contains a lone surrogate, which text files cannot store",
            where=Where(document=document.id, offset=error.start),
            got=repr(error.object[error.start : error.end]),
            fix="Correct the original text.",
        ) from error
    text_path.write_bytes(text)
    text_path.with_name(text_path.name.removesuffix(_TEXT) + ".ann").write_bytes(content)


def _sniff(name: str, head: bytes) -> bool:
    return name.lower().endswith(_ANNOTATIONS)


FORMAT = Format(
    name="brat",
    about="brat standoff: .txt and .ann side by side",
    holds="all entities, relations, events, attributes, notes",
    suffixes=_ANNOTATIONS,
    sniff=_sniff,
    reads_utf16=True,
    read=_read,
    write=_write,
    writes_folder=True,
)
