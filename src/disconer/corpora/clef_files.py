"""Which files of the ShARe/CLEF 2013 and SemEval-2014 downloads are notes, and which annotate them.

ShARe/CLEF eHealth 2013 (PhysioNet: shareclefehealth2013), task 1, its archives packed or unpacked:

    Task1TrainSetCorpus199.zip             ALLREPORTS/00098-016139-DISCHARGE_SUMMARY.txt
    Task1TrainSetGOLD199knowtatorehost.zip ALLSAVED/00098-016139-DISCHARGE_SUMMARY.txt.knowtator.xml
    (or the same annotations as …-DISCHARGE_SUMMARY.pipe.txt)
    Task1TestSetCorpus100.zip              ALLREPORTS/00176-102920-ECHO_REPORT.txt
    Task1Gold_SN2012.tar.bz2               Gold_SN2012/00176-102920-ECHO_REPORT.txt, in the `||` format

SemEval-2014 task 7 and SemEval-2015 task 14 have `.text` and `.pipe` files side by side, in 2015 named by number only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from disconer.corpora.distribution import files_of
from disconer.formats.source import Member

KNOWTATOR, PIPE = ".knowtator.xml", ".pipe"  # suffixes of annotation files that no other file has
_NAME = re.compile(
    r"(?:.*/)?(?P<id>\d+-\d+(?:-[A-Z_]+)?)(?P<suffix>\.txt\.knowtator\.xml|\.knowtator\.xml|\.pipe\.txt|\.pipe|\.txt|\.text)"
)
_NUMBER = re.compile(r"\d+-\d+")
_PIPED = re.compile(rb"\s*\d+-\d+[\w.-]*\|")  # how a file of annotations begins, and no note
_IN_TRAIN = re.compile(r"(?<![a-z])train", re.IGNORECASE)
_IN_TEST = re.compile(r"(?<![a-z])test|sn2012", re.IGNORECASE)
_IN_DEV = re.compile(r"(?<![a-z])dev", re.IGNORECASE)
# Task 2 annotated abbreviations in the same notes; of the two golds the literature takes that of SNOMED 2012.
_OTHER = re.compile(r"task2|sn2011", re.IGNORECASE)
_ANNOTATION_FOLDER = re.compile(r"gold|(?:^|/)ann(?:otations?)?/", re.IGNORECASE)


class Note(NamedTuple):
    """A note and the file that annotates it; None where one of them is missing."""

    id: str
    text: Member | None
    annotations: Member


@dataclass
class Files:
    """The files of one or both downloads, by note id."""

    texts: dict[str, Member] = field(default_factory=dict)
    train: dict[str, Member] = field(default_factory=dict)
    test: dict[str, Member] = field(default_factory=dict)
    semeval_texts: dict[str, Member] = field(default_factory=dict)
    semeval: dict[str, Member] = field(default_factory=dict)

    def notes(self, split: str) -> Iterator[Note]:
        """The annotated notes of the training or test set of 2013, in the order of their ids."""
        annotations = self.train if split == "train" else self.test
        for id in sorted(annotations):
            yield Note(id, self.texts.get(id), annotations[id])

    def semeval_notes(self) -> Iterator[Note]:
        """The notes of SemEval that are not those of 2013, only the development set where one is named so.

        Its training set (and in 2014 its development set) is the corpus of 2013 again.
        """
        known = {number_of(id) for id in (*self.train, *self.test)}
        new = {id: member for id, member in self.semeval.items() if number_of(id) not in known}
        in_dev = {id: member for id, member in new.items() if _IN_DEV.search(member.name)}
        for id, member in sorted((in_dev or new).items()):
            yield Note(id, self.semeval_texts.get(id), member)

    def without_annotations(self) -> int:
        return len(self.texts.keys() - self.train.keys() - self.test.keys())


def find_files(source: Path) -> Files:
    """Sort the files of a download by what they are."""
    files = Files()
    for member in files_of(source, _is_wanted):
        match = _NAME.fullmatch(member.name)
        assert match is not None  # they were chosen so
        id, suffix = match["id"], match["suffix"]
        if suffix == ".text":
            files.semeval_texts.setdefault(id, member)
        elif suffix == PIPE:
            files.semeval.setdefault(id, member)
        elif suffix == ".txt" and not _is_annotation(member):
            files.texts.setdefault(id, member)
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


def _is_wanted(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not _OTHER.search(name)


def _is_annotation(member: Member) -> bool:
    """Notes and the gold of the test set have the same names; a note without disorders may have an empty gold file."""
    head = member.head(200)
    return bool(_PIPED.match(head)) or (not head.strip() and bool(_ANNOTATION_FOLDER.search(member.name)))


def _add_annotations(files: Files, id: str, suffix: str, member: Member) -> None:
    if _IN_TRAIN.search(member.name):
        split = files.train
    elif _IN_TEST.search(member.name):
        split = files.test
    else:
        split = files.test if suffix == ".txt" else files.train
    if suffix.endswith(KNOWTATOR) or id not in split:  # of both forms, Knowtator's is what the literature read
        split[id] = member
