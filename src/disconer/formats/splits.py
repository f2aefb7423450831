"""The splits that the names of a source's files tell."""

from __future__ import annotations

from disconer.formats.source import Member, Source

# As people name them, in the order in which they are shown.
SPLITS = ("train", "training", "dev", "devel", "development", "val", "valid", "validation", "test", "testing")
REST = "other"


def split_sources(source: Source) -> dict[str, Source]:
    """The parts of a source by split: train.jsonl, or all files below train/.

    Files of no split come last, as `other`. Without two splits at least there are none to tell apart: then {}.
    """
    members: dict[str, list[Member]] = {}
    top = _common_folder(source)
    for member in source:
        name = member.name.removeprefix(top).split("/")[0].split(".")[0].lower()
        members.setdefault(name if name in SPLITS else REST, []).append(member)
    found = [name for name in (*SPLITS, REST) if name in members]
    if len([name for name in found if name != REST]) < 2:
        return {}
    return {name: source.only(members[name]) for name in found}


def _common_folder(source: Source) -> str:
    """The folder, with its slash, that all members lie in; archives often have one."""
    firsts = {member.name.partition("/")[::2] for member in source} if source.members else set()
    folders = {folder for folder, below in firsts}
    lone = len(folders) == 1 and all(below for _, below in firsts)
    return f"{folders.pop()}/" if lone else ""
