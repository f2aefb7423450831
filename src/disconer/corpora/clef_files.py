"""The files of the ShARe/CLEF 2013 download: which are notes, how they annotate, and how sentences are cut.

ShARe/CLEF eHealth 2013 (PhysioNet: shareclefehealth2013), task 1, its archives packed or unpacked:

    Task1TrainSetCorpus199.zip             ALLREPORTS/00098-016139-DISCHARGE_SUMMARY.txt
    Task1TrainSetGOLD199knowtatorehost.zip ALLSAVED/00098-016139-DISCHARGE_SUMMARY.txt.knowtator.xml
    (or the same annotations as …-DISCHARGE_SUMMARY.pipe.txt)
    Task1TestSetCorpus100.zip              ALLREPORTS/00176-102920-ECHO_REPORT.txt
    Task1Gold_SN2012.tar.bz2               Gold_SN2012/00176-102920-ECHO_REPORT.txt, in the `||` format

The later releases have these notes again and 133 more. SemEval-2014 task 7 and SemEval-2015 task 14 have `.text` and
`.pipe` files side by side, in 2015 named by number only; ShARe/CLEF 2014 task 2 has `.txt` and `.pipe.txt`.

00098-016139-DISCHARGE_SUMMARY.txt||Disease_Disorder||C0221755||1141||1148||1192||1198     2013, SemEval-2014
00098-016139.text|1141-1148,1192-1198|C0221755|no|*NULL|…                                  2014, SemEval-2015
<annotation><mention id="…"/><span start="1141" end="1148"/>…<spannedText>…</annotation>   Knowtator
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.corpora.recipe import files_of
from disconer.formats.source import Member
from disconer.formats.xml import parse_xml

KNOWTATOR = ".knowtator.xml"
_NAME = re.compile(
    r"(?:.*/)?(?P<id>\d+-\d+(?:-[A-Z_]+)?)"
    r"(?P<suffix>\.txt\.knowtator\.xml|\.knowtator\.xml|\.pipe\.txt|\.pipe|\.txt|\.text)"
)
_NUMBER = re.compile(r"\d+-\d+")
_PIPED = re.compile(rb"\s*\d+-\d+[\w.-]*\|")  # how a file of annotations begins, and no note

# What the folders and archives above a file say; note numbers look like years, so never the file's own name.
_IN_TRAIN = re.compile(r"(?<![a-z])train", re.IGNORECASE)
_IN_TEST = re.compile(r"(?<![a-z])test|sn2012", re.IGNORECASE)
_IN_DEV = re.compile(r"(?<![a-z])dev", re.IGNORECASE)
_IN_LATER = re.compile(r"semeval|201[45]", re.IGNORECASE)
# Task 2 of 2013 was abbreviations in the same notes; of the two golds the literature takes that of SNOMED 2012.
_OTHER = re.compile(r"task2|sn2011", re.IGNORECASE)
_ANNOTATION_FOLDER = re.compile(r"gold|(?:^|/)ann(?:otations?)?/", re.IGNORECASE)


class Note(NamedTuple):
    """An annotated note; its text may be missing."""

    id: str
    text: Member | None
    annotations: Member


@dataclass
class Files:
    """The files of the 2013 download and of a later release, by note id."""

    texts: dict[str, Member] = field(default_factory=dict)
    train: dict[str, Member] = field(default_factory=dict)
    test: dict[str, Member] = field(default_factory=dict)
    later_texts: dict[str, Member] = field(default_factory=dict)
    later: dict[str, Member] = field(default_factory=dict)

    def notes(self, split: str) -> Iterator[Note]:
        """The annotated notes of the training or test set of 2013, in the order of their ids."""
        annotations = self.train if split == "train" else self.test
        for id in sorted(annotations):
            yield Note(id, self.texts.get(id), annotations[id])

    def new_notes(self) -> Iterator[Note]:
        """The notes of a later release that are not those of 2013; of several sets the one for development.

        SemEval-2014's training and development sets are the corpus of 2013; SemEval-2015's development set is new.
        """
        known = {number_of(id) for id in (*self.train, *self.test)}
        new = {id: member for id, member in self.later.items() if number_of(id) not in known}
        in_dev = {id: member for id, member in new.items() if _IN_DEV.search(_folder(member.name))}
        for id, member in sorted((in_dev or new).items()):
            yield Note(id, self.later_texts.get(id), member)

    def without_annotations(self) -> int:
        return len(self.texts.keys() - self.train.keys() - self.test.keys())


def find_files(source: Path) -> Files:
    """Sort the files of a download by what they are."""
    files = Files()
    for member in files_of(source, _is_wanted):
        match = _NAME.fullmatch(member.name)
        assert match is not None  # they were chosen so
        id, suffix = match["id"], match["suffix"]
        is_later = suffix in (".text", ".pipe") or _IN_LATER.search(_folder(member.name))
        if suffix == ".text" or (suffix == ".txt" and not _is_annotation(member)):
            texts = files.later_texts if is_later else files.texts
            texts.setdefault(id, member)
        elif is_later:
            files.later.setdefault(id, member)
        else:
            _add_annotations(files, id, suffix, member)
    return files


def number_of(name: str) -> str:
    """The part of a note's name that is the same in every release.

    >>> number_of("00098-016139-DISCHARGE_SUMMARY.txt")
    '00098-016139'
    """
    match = _NUMBER.match(name)
    return match.group() if match else name


def _folder(name: str) -> str:
    return name[: name.rfind("/") + 1]


def _is_wanted(name: str) -> bool:
    folder = _folder(name)
    return _NAME.fullmatch(name) is not None and bool(_IN_LATER.search(folder) or not _OTHER.search(folder))


def _is_annotation(member: Member) -> bool:
    """Notes and the gold of the test set have the same names; a note without disorders may have an empty gold file."""
    head = member.head(200)
    return bool(_PIPED.match(head)) or (not head.strip() and bool(_ANNOTATION_FOLDER.search(_folder(member.name))))


def _add_annotations(files: Files, id: str, suffix: str, member: Member) -> None:
    folder = _folder(member.name)
    if _IN_TRAIN.search(folder):
        split = files.train
    elif _IN_TEST.search(folder):
        split = files.test
    else:
        split = files.test if suffix == ".txt" else files.train
    if suffix.endswith(KNOWTATOR) or id not in split:  # of both forms, Knowtator's is what the literature read
        split[id] = member


_TYPE = "Disease_Disorder"
_SPANS = re.compile(r"\d+-\d+(?:,\d+-\d+)*")
_OFFSETS = re.compile(r"\d+")


class Mention(NamedTuple):
    """Character ranges as the file has them. `surface` is None where the file says none that can be compared."""

    pairs: list[tuple[int, int]]
    line: int | None
    surface: str | None


def mentions(member: Member, ledger: Ledger) -> Iterator[Mention]:
    """The mentions of one note."""
    if member.name.endswith(KNOWTATOR):
        for annotation in parse_xml(member.read(), member.origin).iter("annotation"):
            mention = _from_knowtator(annotation)
            if mention is None:
                ledger.error(_not_a_mention(Where(member.origin), "an <annotation> without <span start=… end=…>"))
            else:
                yield mention
        return
    for number, line in member.lines():
        if line.strip():
            mention = _from_pipe(line.strip(), number, number_of(member.name.rpartition("/")[2]))
            if mention is None:
                ledger.error(_not_a_mention(Where(member.origin, number), excerpt(line)))
            else:
                yield mention


def _from_pipe(line: str, number: int, note: str) -> Mention | None:
    fields = line.split("|")
    if number_of(fields[0]) != note:
        return None
    if len(fields) > 1 and _SPANS.fullmatch(fields[1]):
        return _mention(_OFFSETS.findall(fields[1]), number, None)
    fields = line.split("||")
    return _mention(fields[3:], number, None) if len(fields) > 3 and fields[1] == _TYPE else None


def _from_knowtator(annotation: Element) -> Mention | None:
    spans = annotation.findall("span")
    surface = annotation.findtext("spannedText") if len(spans) == 1 else None
    return _mention([span.get(end, "") for span in spans for end in ("start", "end")], None, surface)


def _mention(offsets: list[str], line: int | None, surface: str | None) -> Mention | None:
    if not offsets or len(offsets) % 2 or not all(_OFFSETS.fullmatch(offset) for offset in offsets):
        return None
    numbers = [int(offset) for offset in offsets]
    return Mention(list(zip(numbers[::2], numbers[1::2], strict=True)), line, surface)


def _not_a_mention(where: Where, got: str) -> BadInput:
    return BadInput(
        "bad-syntax",
        "This is not a mention of the ShARe corpus",
        where=where,
        got=got,
        expected=f"note||{_TYPE}||CUI||start||end… or note|start-end,start-end|CUI|… with the name of its note",
        fix="Check that the file is the official one, or skip such lines with --skip-bad.",
    )


_HEADER_LINES = 6  # the first lines of a note, blank ones included, name the patient and the dates: never cut
_LONG = 150  # characters; a shorter line is one sentence
_STOP = re.compile(r"[.!?](?=\s*(\S))")


def dai(text: str) -> list[tuple[int, int]]:
    """A sentence is a line, and a long one is cut after each stop that an upper-case letter follows."""
    sentences: list[tuple[int, int]] = []
    position = 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        start, end = _trimmed(text, position, position + len(line))
        if number >= _HEADER_LINES and end - start >= _LONG:
            sentences += _cut(text, start, end)
        elif start < end:
            sentences.append((start, end))
        position += len(line)
    return sentences


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for stop in _STOP.finditer(text, start, end):
        if stop.group(1).isupper():
            yield _trimmed(text, start, stop.end())
            start = stop.end()
    yield _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    line = text[start:end]
    return start + len(line) - len(line.lstrip()), start + len(line.rstrip())
