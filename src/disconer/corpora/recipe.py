"""What a corpus module is made of: its recipe, and the files of its official distribution."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import md5
from importlib.resources import files
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from disconer.core.corpus import Corpus
from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, Fragment, normalise
from disconer.formats.source import Member, Source

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_MAX_DEPTH = 3  # archives within archives; no distribution goes deeper
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError)


def files_of(path: Path, wanted: Callable[[str], bool]) -> list[Member]:
    """The wanted files of a folder or an archive, and of the archives in it, whose names become folders."""
    return [found for member in Source(path) for found in _expand(member, wanted, 0)]


def _expand(member: Member, wanted: Callable[[str], bool], depth: int) -> Iterator[Member]:
    if depth < _MAX_DEPTH and member.name.lower().endswith(_ARCHIVES):
        try:
            for inner in _inner(member, wanted):
                yield from _expand(inner, wanted, depth + 1)
        except _BROKEN as error:
            raise BadInput(
                "unreadable-file",
                "This archive is damaged or incomplete",
                where=Where(member.origin),
                got=str(error) or type(error).__name__,
                fix="Copy or download it again.",
            ) from error
    elif wanted(member.name):
        yield member


def _inner(archive: Member, wanted: Callable[[str], bool]) -> Iterator[Member]:
    """The files of an archive that are wanted or archives themselves, read at once, as a tar is read sequentially."""
    content = BytesIO(archive.read())
    if archive.suffix == ".zip":
        with zipfile.ZipFile(content) as packed:
            for info in packed.infolist():
                if not info.is_dir() and _is_asked_for(_name_in(archive, info.filename), wanted):
                    yield _loaded(archive, info.filename, packed.read(info))
    else:
        with tarfile.open(fileobj=content) as tar:
            for entry in tar:
                asked_for = entry.isfile() and _is_asked_for(_name_in(archive, entry.name), wanted)
                stream = tar.extractfile(entry) if asked_for else None
                if stream is not None:
                    yield _loaded(archive, entry.name, stream.read())


def _name_in(archive: Member, name: str) -> str:
    return f"{archive.name}/{PurePosixPath(name)}"


def _is_asked_for(name: str, wanted: Callable[[str], bool]) -> bool:
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)
    return not hidden and (wanted(name) or name.lower().endswith(_ARCHIVES))


def _loaded(archive: Member, name: str, data: bytes) -> Member:
    def open_again() -> BinaryIO:
        return BytesIO(data)

    return Member(_name_in(archive, name), f"{archive.origin}:{name}", open_again, lambda: len(data))


def unix_text(member: Member) -> str:
    """The text with line feeds for all line ends, as the tools saw it that counted the offsets of these corpora."""
    return member.text().replace("\r\n", "\n").replace("\r", "\n")


def not_the_source(path: Path, what: str, source: str) -> DisconerError:
    """The error for a SOURCE that is not what a recipe needs."""
    return DisconerError(what, where=Where(str(path)), expected=source, fix="Check SOURCE: the folder or archive.")


def missing_document(path: Path, document: str, what: str, source: str) -> BadInput:
    """The error for a document of a split that SOURCE lacks, or lacks a part of."""
    return BadInput(
        "missing-file",
        what,
        where=Where(str(path), document=document),
        expected=source,
        fix="Check that the distribution is complete, or skip such documents with --skip-bad.",
    )


SPLITS = ("train", "dev", "test")
_TRAIN, _DEV = 80, 90  # of each hundred md5 values, those below are train, and dev

# build(source, options, ledger): `source` is what the user downloaded, `options` has a value for every option.
Build = Callable[[Path, Mapping[str, str], Ledger], Corpus]


@dataclass(frozen=True, slots=True)
class Option:
    """A choice that a recipe offers: `--name choice` of `disconer prepare`. The first choice, the literature's, is the
    default.
    """

    name: str
    choices: tuple[str, ...]
    help: str

    @property
    def default(self) -> str:
        return self.choices[0]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one corpus is prepared.

    name: how users choose it (`disconer prepare genia …`).
    about: one line: what it is, its licence, where it comes from.
    source: what SOURCE has to be, in words, for help and error messages.
    counts_sentences: Table 1 of the paper counts sentences for this corpus, not documents.
    paper: what that table counts in train, dev and test; None if the corpus is not in it.
    remark: why counts may differ from the paper's.
    """

    name: str
    about: str
    source: str
    build: Build
    options: tuple[Option, ...] = field(default=())
    counts_sentences: bool = False
    paper: tuple[int, int, int] | None = None
    remark: str = ""

    def choose(self, given: Mapping[str, str]) -> dict[str, str]:
        """A value for every option: the given one, or the literature's."""
        known = {option.name: option for option in self.options}
        for name, value in given.items():
            if name not in known:
                raise DisconerError(
                    f"The recipe {self.name!r} has no option {name!r}",
                    expected=f"one of {', '.join(known)}" if known else "no options",
                )
            if value not in known[name].choices:
                raise DisconerError(
                    f"The option {name!r} of the recipe {self.name!r} has no such value",
                    got=repr(value),
                    expected=f"one of {', '.join(known[name].choices)}",
                )
        return {name: given.get(name, option.default) for name, option in known.items()}


def split_ids(corpus: str, split: str) -> tuple[str, ...]:
    """The document ids of one split as the literature has it, shipped in `splits/`."""
    text = files("disconer.corpora").joinpath("splits", f"{corpus}.{split}.ids").read_text("utf-8")
    return tuple(text.split())


def hashed_split(key: str) -> str:
    """The split of a document in a corpus that has no official ones, from what must fall together.

    >>> hashed_split("NCT00050349")
    'train'
    """
    value = int(md5(key.encode(), usedforsecurity=False).hexdigest(), 16) % 100
    return "train" if value < _TRAIN else "dev" if value < _DEV else "test"


def to_whole_words(document: Document, ledger: Ledger) -> Document:
    """Widen fragments that cut a token to all of it, and take off whitespace at their ends.

    The document must have sentences. Fragments already on token boundaries stay as they are.
    """
    tokens = [token for sentence in document.sentences or () for token in sentence.tokens]
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]

    def fitted(fragment: Fragment) -> Fragment:
        first = bisect_right(ends, fragment.start)  # the first token that ends after the fragment's start
        last = bisect_left(starts, fragment.end) - 1  # the last token that starts before its end
        return Fragment(starts[first], ends[last])

    entities = []
    for entity in document.entities:
        fragments = tuple(fitted(fragment) for fragment in entity.fragments)
        if fragments != entity.fragments:
            ledger.repaired("mentions expanded to word boundaries")
            entity = replace(entity, fragments=normalise(fragments, document.text))
        entities.append(entity)
    return document.replace(entities=tuple(entities))


def unique(entities: Sequence[Entity], ledger: Ledger) -> tuple[Entity, ...]:
    """Each label and fragments once, the first of them; the others are counted."""
    kept: dict[object, Entity] = {}
    for entity in entities:
        kept.setdefault(entity.key, entity)
    ledger.lost("duplicate annotations of a mention", len(entities) - len(kept))
    return tuple(kept.values())
