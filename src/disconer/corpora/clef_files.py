"""Which files of the ShARe/CLEF 2013 download, and of the later releases, are notes, and which annotate them.

ShARe/CLEF eHealth 2013 (PhysioNet: shareclefehealth2013), task 1, its archives packed or unpacked:

    Task1TrainSetCorpus199.zip             ALLREPORTS/00098-016139-DISCHARGE_SUMMARY.txt
    Task1TrainSetGOLD199knowtatorehost.zip ALLSAVED/00098-016139-DISCHARGE_SUMMARY.txt.knowtator.xml
    (or the same annotations as …-DISCHARGE_SUMMARY.pipe.txt)
    Task1TestSetCorpus100.zip              ALLREPORTS/00176-102920-ECHO_REPORT.txt
    Task1Gold_SN2012.tar.bz2               Gold_SN2012/00176-102920-ECHO_REPORT.txt, in the `||` format

The later releases have these notes again and 133 more. SemEval-2014 task 7 and SemEval-2015 task 14 have `.text` and
`.pipe` files side by side, in 2015 named by number only; ShARe/CLEF 2014 task 2 has `.txt` and `.pipe.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from disconer.corpora.distribution import files_of
from disconer.formats.source import Member

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
