"""ACE 2005, English: nested mentions in news, broadcasts and weblogs (Walker et al. 2006).

    data/English/bn/adj/NAME.sgm        the text, in SGML
    data/English/bn/adj/NAME.apf.xml    entities, each with its mentions' extents and heads

As in Lu and Roth (2015): every mention by its extent, seven types, their 464 documents, which are all that have an
`adj` folder in the sources bc, bn, nw and wl. Offsets count the characters of the .sgm less its tags. In most
documents an `&amp;` counts five, as it stands; in a few it counts one. Which of the two a document follows is
determined from its mentions, whose texts the .apf.xml repeats.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from disconer.core.corpus import Corpus
from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity
from disconer.corpora.recipe import (
    SPLITS,
    Option,
    Recipe,
    files_of,
    missing_document,
    not_the_source,
    split_ids,
    unique,
    unix_text,
)
from disconer.formats.entities import build_entity
from disconer.formats.source import Member
from disconer.formats.xml import parse_xml
from disconer.text import SPLITTERS, TOKENIZERS

_SOURCE = "the LDC2006T06 folder or .tgz, with data/English/{bc,bn,nw,wl}/adj/*.sgm and *.apf.xml"
_TYPES = ("FAC", "GPE", "LOC", "ORG", "PER", "VEH", "WEA")
_FILE = re.compile(r"(?:(.*)/)?(bc|bn|cts|nw|un|wl)/(adj|timex2norm)/([^/]+)\.(sgm|apf\.xml)")
_OTHER_LANGUAGES = ("Arabic", "Chinese")  # the same sources and folders again

_TAG = re.compile(r"<[^>]+>")
_BODY = re.compile(r"<BODY>", re.IGNORECASE)
_SOFT_BREAK = re.compile(r"(?<=\S)\n(?=\S)")  # lines are wrapped; paragraphs are separated by blank lines or tags

_AMPERSAND = re.compile(r"&amp;", re.IGNORECASE)

_Files = dict[tuple[str, str], Member]  # (document id, suffix) -> file


class _Mention(NamedTuple):
    """What the .apf.xml says of a mention; `end` is exclusive."""

    id: str | None
    label: str
    start: int
    end: int
    surface: str


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    files = _find_files(source, options["annotations"])
    splits: dict[str, list[Document]] = {}
    for split in SPLITS:
        documents = splits[split] = []
        for id in split_ids("ace05", split):
            lacking = [suffix for suffix in ("sgm", "apf.xml") if (id, suffix) not in files]
            if lacking:
                ledger.error(
                    missing_document(source, id, f"The .{lacking[0]} file of this document is missing", _SOURCE)
                )
                continue
            try:
                documents.append(_document(id, files[id, "sgm"], files[id, "apf.xml"], ledger))
            except BadInput as error:
                ledger.error(error)
    return Corpus({split: tuple(documents) for split, documents in splits.items()})


def _find_files(source: Path, folder: str) -> _Files:
    """The English files of one stage of annotation. The ids of the splits name the stage `adj`."""
    files: _Files = {}
    for member in files_of(source, lambda name: _FILE.fullmatch(name) is not None):
        match = _FILE.fullmatch(member.name)
        assert match is not None  # they were chosen so
        above, part, stage, name, suffix = match.groups()
        if stage == folder and not any(language in (above or "") for language in _OTHER_LANGUAGES):
            files.setdefault((f"{part}/adj/{name}", suffix), member)
    if not files:
        raise not_the_source(source, f"There are no English documents in folders {folder!r}", _SOURCE)
    return files


def _document(id: str, sgm: Member, apf: Member, ledger: Ledger) -> Document:
    sgml = unix_text(sgm)
    mentions = list(_mentions(apf, ledger))
    text, stretches = _without_tags(sgml)
    if _n_fitting(mentions, text) < len(mentions):
        short_text, short_stretches = _without_tags(_AMPERSAND.sub("&", sgml))
        if _n_fitting(mentions, short_text) > _n_fitting(mentions, text):
            ledger.repaired("documents that count &amp; as one character")
            text, stretches = short_text, short_stretches
    entities = [_entity(mention, text, apf, ledger) for mention in mentions]
    sentences = tuple(sentence for start, end in stretches for sentence in _sentences(text, start, end))
    return Document(id, text, unique([e for e in entities if e is not None], ledger), sentences)


def _without_tags(sgml: str) -> tuple[str, list[tuple[int, int]]]:
    """The text that offsets count, and the stretches of it between tags; those of the header are left out."""
    parts, stretches = [], []
    position = at = 0
    body = _BODY.search(sgml)
    for tag in [*_TAG.finditer(sgml), None]:
        part = sgml[position : tag.start() if tag else len(sgml)]
        if part.strip() and (body is None or position >= body.end()):
            stretches.append((at, at + len(part)))
        parts.append(part)
        at += len(part)
        position = tag.end() if tag else len(sgml)
    return "".join(parts), stretches


def _sentences(text: str, start: int, end: int) -> Iterator[Sentence]:
    stretch = _SOFT_BREAK.sub(" ", text[start:end])  # as long as before, so offsets stay
    for first, last in SPLITTERS["rules"](stretch):
        tokens = TOKENIZERS["words"](text, start + first, start + last)
        yield Sentence(start + first, start + last, tokens)


def _mentions(apf: Member, ledger: Ledger) -> Iterator[_Mention]:
    for entity in parse_xml(apf.read(), apf.origin).iter("entity"):
        label = entity.get("TYPE", "")
        if label not in _TYPES:
            ledger.error(_bad(apf, entity, f"TYPE {label!r}", f"one of {', '.join(_TYPES)}"))
            continue
        for mention in entity.iter("entity_mention"):
            charseq = mention.find("extent/charseq")
            start, end = ("", "") if charseq is None else (charseq.get("START", ""), charseq.get("END", ""))
            if charseq is None or not start.isdecimal() or not end.isdecimal():
                ledger.error(_bad(apf, mention, "no extent", '<extent><charseq START="…" END="…">'))
                continue
            # END is the last character's own offset.
            yield _Mention(mention.get("ID"), label, int(start), int(end) + 1, charseq.text or "")


def _n_fitting(mentions: list[_Mention], text: str) -> int:
    return sum(_fits(mention, text) for mention in mentions)


def _fits(mention: _Mention, text: str) -> bool:
    return _visible(text[mention.start : mention.end]) == _visible(mention.surface)


def _entity(mention: _Mention, text: str, apf: Member, ledger: Ledger) -> Entity | None:
    return build_entity(
        mention.label,
        [(mention.start, mention.end)],
        text,
        ledger=ledger,
        path=apf.origin,
        id=mention.id,
        surface=None if _fits(mention, text) else mention.surface,
        fix="Check that the .sgm is the official one, or skip such mentions with --skip-bad.",
    )


def _visible(text: str) -> str:
    """What remains comparable: the .sgm has `&amp;` and line breaks where the .apf.xml has `&` and others."""
    return "".join(html.unescape(text).split())


def _bad(apf: Member, element: Element, got: str, expected: str) -> BadInput:
    where = Where(apf.origin, entity=element.get("ID"))
    return BadInput("bad-syntax", "This is not an entity of ACE 2005", where=where, got=got, expected=expected)


RECIPE = Recipe(
    name="ace05",
    about="nested mentions in English news and weblogs (LDC licence; LDC2006T06, split of Lu and Roth 2015)",
    source=_SOURCE,
    build=_build,
    options=(
        Option("annotations", ("adj", "timex2norm"), "the adjudicated files, or those with normalised times as well"),
    ),
    paper=(370, 43, 51),
)
