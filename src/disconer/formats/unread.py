"""Warnings about files of a folder or archive that are not read: otherwise, users would assume that they were."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from disconer.core.errors import DisconerWarning
from disconer.core.ledger import Ledger
from disconer.formats.format import Format
from disconer.formats.source import Member, Source

NOT_READ = "files of other formats in the folder, not read"
PLAIN, BRAT = "text", "brat"
LOOKS = 50  # files per suffix that are inspected: a folder may have a million
_COLUMNS = ("bio", "bioes", "biohd")  # each reads the files of the others
_TEXT = ".txt"
# What annotation tools and our own commands put beside the documents.
_BESIDE = {
    *("annotation.conf", "visual.conf", "tools.conf", "kb_shortcuts.conf"),
    *("labels.yaml", "prepared.json", "TypeSystem.xml"),
}
_DISPUTED = ".disputed.json"
_ABOUT = {"readme", "license", "licence", "copying", "notice", "citation", "changelog"}  # whatever their suffix
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Unread:
    """Files that are not read: those of another format, with its name, and how many others have which suffix."""

    annotated: list[str]
    others: Counter[str]

    def note(
        self, source: Source, chosen: Format, ledger: Ledger | None, *, are_texts: bool = False, stacklevel: int
    ) -> None:
        """Warn of them, and count those of other formats. are_texts: the user wants texts, whatever the format."""
        if self.annotated:
            if ledger is not None:
                ledger.lost(NOT_READ, len(self.annotated))
            shown = ", ".join(self.annotated[:_SHOWN]) + (", …" if len(self.annotated) > _SHOWN else "")
            number = f"{len(self.annotated):,} " if len(self.annotated) > _SHOWN else ""
            warnings.warn(
                f"{source} is read as {chosen.name}; {number}files of other formats in it are left out: {shown}. "
                "To read them instead, name the file, or choose the format with --from.",
                DisconerWarning,
                stacklevel=stacklevel + 1,
            )
        if self.others:
            counted = ", ".join(f"{times:,} {suffix}" for suffix, times in sorted(self.others.items()))
            advice = "; save texts as plain text (.txt) first" if are_texts or chosen.name == PLAIN else ""
            warnings.warn(f"not read in {source}: {counted}{advice}", DisconerWarning, stacklevel=stacklevel + 1)


def unread(source: Source, chosen: Format, formats: Iterable[Format], *, texts: bool = False) -> Unread:
    """What reading a folder or archive in a format leaves out.

    formats: all there are. texts: of a brat folder only the texts are wanted, with or without annotations.
    """
    if source.is_single_file:
        return Unread([], Counter())
    family = _COLUMNS if chosen.name in _COLUMNS else (chosen.name,)
    known = list(formats)
    taken = _taken(source, {suffix for one in known if one.name in family for suffix in one.suffixes}, chosen, texts)
    others = [one for one in known if one.name not in (*family, PLAIN)]
    annotated, rest = [], Counter[str]()
    looks: Counter[str] = Counter()
    for member in source:
        if member.name in taken or _is_known(member.name.rpartition("/")[2]):
            continue
        candidates = [one for one in others if member.suffix in one.suffixes] if looks[member.suffix] < LOOKS else []
        looks[member.suffix] += bool(candidates)
        if name := _format_of(member, candidates):
            annotated.append(f"{member.name} ({name})")
        else:
            rest[member.suffix or "without a suffix"] += 1
    return Unread(annotated, rest)


def _is_known(name: str) -> bool:
    """Whether a file of this name is not a document, so that it need not be mentioned."""
    return name in _BESIDE or name.endswith(_DISPUTED) or name.partition(".")[0].lower() in _ABOUT


def _taken(source: Source, suffixes: Collection[str], chosen: Format, texts: bool) -> set[str]:
    """The names of the members that are read, and of the texts of those that are annotations."""
    stems = {member.stem for member in source if member.suffix in (".ann", ".a1", ".a2")}
    folders = {stem.rpartition("/")[0] for stem in stems}
    taken = set()
    for member in source:
        is_pair = member.suffix == _TEXT and member.stem in stems
        near = member.suffix == _TEXT and (texts or member.stem.rpartition("/")[0] in folders)  # an error, if no pair
        if member.suffix in suffixes or is_pair or (chosen.name == BRAT and near):
            taken.add(member.name)
    return taken


def _format_of(member: Member, candidates: Iterable[Format]) -> str | None:
    """The name of the format of a file, by its content; a .txt of no other format is plain text."""
    candidates = list(candidates)
    head = member.head() if candidates else b""
    found = next((one.name for one in candidates if one.sniff(member.name, head)), None)
    return found or (PLAIN if member.suffix == _TEXT else None)
