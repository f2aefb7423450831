"""Input that no format reads: what it seems to be, and what to do with it."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence

from disconer.core.errors import DisconerError, Where, listed
from disconer.formats.jsonfiles import SUFFIXES as JSON
from disconer.formats.jsonfiles import leading_keys
from disconer.formats.native import FIELDS
from disconer.formats.source import Member, Source
from disconer.formats.table import is_table, unreadable_table

_OTHER_PROGRAMS = {".pdf", ".doc", ".docx", ".odt", ".rtf"}  # texts that only other programs can read
_TABLES = {".csv", ".tsv", ".xls", ".xlsx", ".ods"}
_LINES = 'a .jsonl file with lines {"id": …, "text": …}'
_LOOKS = 50  # files that are inspected: a folder may have a million
_HEAD = 2**16

# PMID|t|Title and, on the next line, PMID|a|Abstract.
_PUBTATOR = re.compile(rb"(?:\xef\xbb\xbf)?\s*([^\s|]+)\|t\|[^\n]*\n\1\|a\|")


def refuse_pubtator(source: Source) -> None:
    """Stop at files of PubTator, which look like plain text, but have bars and offsets in it."""
    for member in source.members[:_LOOKS]:
        if (source.is_single_file or member.suffix in (".txt", ".pubtator")) and _PUBTATOR.match(member.head(_HEAD)):
            raise DisconerError(
                "This is PubTator's own format, which disconer does not read",
                where=Where(member.origin),
                fix="Download the same documents as BioC, which PubTator offers, too (…/publications/export/biocxml or "
                "biocjson). If it is prose nevertheless, add --from text.",
            )


def unrecognised(source: Source, readable: Sequence[str]) -> DisconerError:
    """The error for a source of unknown format. readable: the names of formats to choose from."""
    members = source.members[:_LOOKS]
    if any(member.suffix in _TABLES and is_table(member.head(_HEAD)) for member in members):
        return unreadable_table(source)
    for known in (_in_utf16, _json_min, _not_in_lines, _without_id):
        if error := next(filter(None, map(known, members)), None):
            return error
    return DisconerError(
        "The format of this input is not recognised", where=Where(str(source)), fix=_how_to_read(source, readable)
    )


def _in_utf16(member: Member) -> DisconerError | None:
    if not member.head(2).startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return None
    return DisconerError(
        "This file starts like UTF-16",
        where=Where(member.origin),
        expected="UTF-8",
        fix="Convert it (iconv -f utf-16 -t utf-8).",
    )


def _json_min(member: Member) -> DisconerError | None:
    """The error for a short form of Label Studio's export, in which the parts of an entity are not linked."""
    if member.suffix not in JSON or not leading_keys(member.head(_HEAD)) >= {"annotation_id", "lead_time"}:
        return None
    return DisconerError(
        "This looks like Label Studio's JSON-MIN, which disconer does not read, as it lacks relations",
        where=Where(member.origin),
        fix="Export the project as JSON instead.",
    )


def _not_in_lines(member: Member) -> DisconerError | None:
    """The error for disconer's own documents that are a list, spread over several lines, or in a file named .json."""
    head = member.head(_HEAD)
    if member.suffix not in JSON or not {"id", "text"} <= leading_keys(head) <= FIELDS:
        return None
    got, path = "a file of another name, or documents over several lines", "."
    if head.removeprefix(BOM_UTF8).lstrip().startswith(b"["):
        got, path = "a list", "'.[]'"
    return DisconerError(
        "This looks like disconer's own documents, but not like a .jsonl file of them",
        where=Where(member.origin),
        got=got,
        expected=_LINES,
        fix=f"Write each to a line of its own (jq -c {path} FILE > FILE.jsonl).",
    )


def _without_id(member: Member) -> DisconerError | None:
    """The error for objects that would be documents if they had an id."""
    if member.suffix not in JSON:
        return None
    head = member.head(_HEAD)
    keys = leading_keys(head)
    if "text" not in keys or "id" in keys or (len(head) == _HEAD and b"\n" not in head):  # the id may come later
        return None
    return DisconerError(
        'The documents of this file have no "id"',
        where=Where(member.origin),
        got=f"objects with {listed(sorted(keys), 8)}",
        expected=_LINES,
        fix='Give each object an "id", a string that no other has, or rename the field that holds it.',
    )


def _how_to_read(source: Source, readable: Sequence[str]) -> str:
    suffixes = {member.suffix for member in source}
    if suffixes <= _OTHER_PROGRAMS:
        return "Save texts of other programs as plain text (.txt) in UTF-8 first."
    if suffixes <= _TABLES:
        return f"Write the texts of a table to .txt files, or to {_LINES}."
    choice = f"Else choose the format with --from: {', '.join(readable)}."
    if suffixes <= set(JSON):
        return f"Write texts to {_LINES}. {choice}"
    plain = "add --from text" if source.is_single_file else "name each file .txt"
    return f"If it is plain text, {plain}. {choice}"
