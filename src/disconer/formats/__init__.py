"""Every annotation format behind two functions.

One module or folder per format; other packages add theirs under the entry-point group `disconer.formats`.
All of them may import `core` and `text`. No torch, and no other heavy package before it is needed.

>>> from disconer.formats import read, write
>>> write(read("notes/"), "notes.jsonl")  # doctest: +SKIP
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from disconer.core.errors import DisconerError, DisconerWarning, Where
from disconer.core.ledger import Ledger
from disconer.core.plugins import Registry
from disconer.core.types import Document
from disconer.formats.code_units import Offsets
from disconer.formats.duplicates import read_unique, unique
from disconer.formats.format import Format
from disconer.formats.source import Source, split_sources
from disconer.formats.target import refuse_existing
from disconer.formats.unread import LOOKS, NOT_READ, PLAIN, unread
from disconer.formats.unrecognised import refuse_pubtator, unrecognised

# In the order of sniffing: what is recognised by its content first, what any text could be last.
FORMATS: Registry[Format] = Registry(
    "disconer.formats",
    {
        "jsonl": "disconer.formats.native:FORMAT",
        "docbin": "disconer.formats.docbin:FORMAT",
        "parquet": "disconer.formats.parquet:FORMAT",
        "bioc-xml": "disconer.formats.bioc.xml:FORMAT",
        "bioc-json": "disconer.formats.bioc.json:FORMAT",
        "pubannotation": "disconer.formats.pubannotation:FORMAT",
        "bigbio": "disconer.formats.bigbio:FORMAT",
        "label-studio": "disconer.formats.label_studio:FORMAT",
        "doccano": "disconer.formats.doccano:FORMAT",
        "prodigy": "disconer.formats.prodigy:FORMAT",
        "cas-xmi": "disconer.formats.uima.xmi:FORMAT",
        "cas-json": "disconer.formats.uima.json:FORMAT",
        "dygie": "disconer.formats.dygie:FORMAT",
        "w2ner": "disconer.formats.w2ner:FORMAT",
        "webanno-tsv": "disconer.formats.uima.tsv:FORMAT",
        "brat": "disconer.formats.brat:FORMAT",
        "conllu": "disconer.formats.conllu:FORMAT",
        "inline": "disconer.formats.inline:FORMAT",
        "bio": "disconer.formats.conll:BIO",
        "bioes": "disconer.formats.conll:BIOES",
        "biohd": "disconer.formats.conll:BIOHD",
        "text": "disconer.formats.plain:FORMAT",
        "csv": "disconer.formats.table:CSV",
        "tsv": "disconer.formats.table:TSV",
    },
    what="format",
)
ALL = "all"  # the only part of a source without splits
_PICTURES = {".html", ".htm", ".svg"}


def format_named(name: str) -> Format:
    """The format called `name`."""
    format = FORMATS.get(name)
    if not isinstance(format, Format) or format.name != name:
        raise DisconerError(
            f"A package registered something under {name!r} that is not a format of that name",
            got=f"the format {format.name!r}" if isinstance(format, Format) else f"a {type(format).__name__}",
            expected=f"a disconer.formats.Format with the name {name!r}",
            fix="Update or uninstall that package.",
        )
    return format


def all_formats() -> Iterator[Format]:
    """Every format that can be loaded, disconer's own first. Others cause a warning."""
    for name in FORMATS.names():
        try:
            yield format_named(name)
        except DisconerError as error:
            warnings.warn(str(error), DisconerWarning, stacklevel=2)


def names_of_formats() -> tuple[list[str], list[str]]:
    """The names of formats that can be read, and of those that can be written."""
    formats = list(all_formats())
    return [one.name for one in formats if one.is_readable], [one.name for one in formats if one.write]


def sniff(source: Source) -> Format:
    """The format of the first file of a source that is recognised."""
    if found := _sniff_among([format for format in all_formats() if format.name != PLAIN], source):
        return found
    refuse_pubtator(source)
    if found := _sniff_among([format_named(PLAIN)], source):  # any .txt is one
        return found
    if not any(member.head() for member in source):
        raise DisconerError("There is nothing to read here: no file, or only empty ones", where=Where(str(source)))
    raise unrecognised(source, names_of_formats()[0])


def _sniff_among(formats: list[Format], source: Source) -> Format | None:
    looks: Counter[str] = Counter()
    for member in source:
        candidates = [format for format in formats if member.suffix in format.suffixes]
        if (candidates or source.is_single_file) and looks[member.suffix] < LOOKS:
            looks[member.suffix] += 1
            head = member.head()
            for format in candidates or formats:
                if format.sniff(member.name, head):
                    return format
    return None


def read(
    path: str | os.PathLike[str] | Source,
    format: str | None = None,
    ledger: Ledger | None = None,
    *,
    offsets: Offsets = "characters",
) -> Iterator[Document]:
    """Documents of a file, folder, .zip or .gz, one after another.

    format: a name in `FORMATS`; recognised from the content if None.
    ledger: counts errors and repairs; without one the first error is raised.
    offsets: what those of the source count: `utf-16` for UTF-16 units, as tools in JavaScript and Java do.
    """
    source, ledger = path if isinstance(path, Source) else Source(path), ledger or Ledger()
    chosen = format_named(format) if format else sniff(source)
    if offsets != "characters":
        ledger = _of_utf16(ledger, chosen, offsets)
    if format is None and not source.is_single_file:
        note_unread(source, chosen, ledger, stacklevel=3)
    return read_unique(chosen, source, ledger)


def _of_utf16(ledger: Ledger, chosen: Format, offsets: str) -> Ledger:
    if offsets != "utf-16":
        raise ValueError(f"offsets are 'characters' or 'utf-16', got {offsets!r}")
    if not chosen.reads_utf16:
        raise DisconerError(
            f"The format {chosen.name!r} is not read with other offsets than its own",
            got="utf-16",
            fix=f"Leave it out: it is for {', '.join(one.name for one in all_formats() if one.reads_utf16)}.",
        )
    return ledger.of_utf16()


def read_splits(
    path: str | os.PathLike[str], format: str | None = None, ledger: Ledger | None = None
) -> dict[str, Iterator[Document]]:
    """The documents of each split of a source that has splits, else all of them, as `all`; otherwise like `read`.

    Ids are unique in each split: tools number the documents of each file.
    """
    whole = Source(path)
    chosen = format_named(format) if format else sniff(whole)
    if format is None and not whole.is_single_file:
        note_unread(whole, chosen, ledger, stacklevel=3)
    return {name: read(part, chosen.name, ledger) for name, part in (split_sources(whole) or {ALL: whole}).items()}


def note_unread(
    source: Source,
    chosen: Format,
    ledger: Ledger | None = None,
    *,
    texts: bool = False,
    by_user: bool = False,
    stacklevel: int = 2,
) -> None:
    """Warn of files in a folder or archive that are not read: `read` does so itself where it finds the format.

    texts: of a brat folder only the texts are wanted, with or without annotations.
    by_user: the format was named, so that files of other formats are left out on purpose.
    """
    found = unread(source, chosen, all_formats(), texts=texts)
    if by_user:
        found.annotated.clear()
    found.note(source, chosen, ledger, are_texts=texts, stacklevel=stacklevel)


def write(
    documents: Iterable[Document],
    path: str | os.PathLike[str],
    format: str | None = None,
    ledger: Ledger | None = None,
    *,
    force: bool = False,
) -> None:
    """Write documents to a file or folder, whole or not at all.

    format: a name in `FORMATS`; taken from the path's suffix if None.
    ledger: counts what the format cannot represent.
    """
    target = Path(path)
    chosen = format_named(format) if format else format_for(target)
    if chosen.write is None:
        raise DisconerError(f"The format {chosen.name!r} can only be read, not written")
    refuse_existing(target, force)
    ledger = ledger or Ledger()
    chosen.write(unique(_only_documents(documents), ledger), target, ledger)


def _only_documents(documents: Iterable[Document]) -> Iterator[Document]:
    if isinstance(documents, Document):
        raise TypeError("write takes an iterable of documents, got one document: give it in a list")
    for document in documents:
        if not isinstance(document, Document):
            raise TypeError(f"write takes an iterable of documents, got {type(document).__name__}")
        yield document


def format_for(path: Path) -> Format:
    """The format of an output path, by its suffix; a path without one is a brat folder.

    A suffix that several formats share means the one named after it (.jsonl), or none (.json).
    """
    suffix = (path.with_suffix("").suffix if path.suffix.lower() == ".gz" else path.suffix).lower()
    if not suffix:
        return format_named("brat")
    if suffix[1:] in FORMATS:
        return format_named(suffix[1:])
    formats = list(all_formats())
    candidates = [format for format in formats if suffix in format.suffixes]
    if len(candidates) == 1 and not candidates[0].writes_folder:
        return candidates[0]
    writable = [format.name for format in candidates or formats if format.write]
    drawn = f" To get a picture, write .jsonl and draw it: disconer render found.jsonl -o {path}."
    raise DisconerError(
        "The output format cannot be told from the file name",
        where=Where(str(path)),
        fix=f"Choose it with --to: {', '.join(writable)}.{drawn if suffix in _PICTURES else ''}",
    )


__all__ = [
    "ALL",
    "FORMATS",
    "NOT_READ",
    "Format",
    "all_formats",
    "format_for",
    "format_named",
    "names_of_formats",
    "note_unread",
    "read",
    "read_splits",
    "sniff",
    "write",
]
