"""The train, dev and test splits of the user's data: found by name, or made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from disconer.core.corpus import text_key
from disconer.core.errors import DisconerError, Where
from disconer.core.types import Document
from disconer.formats import read, write
from disconer.formats.target import new_folder, refuse_existing

TRAIN, DEV, TEST = "train", "dev", "test"

_SPLIT_OF = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("dev", "devel", "development", "valid", "validation", "val"), DEV),
    **dict.fromkeys(("test", "testing"), TEST),
}
_LETTERS = re.compile(r"[a-z]+")


def find_splits(source: Path) -> dict[str, Path]:
    """The files or folders of `source` that are named after splits; empty without a training split.

    `train.jsonl`, `validation/` and `cadec-test.json` are; `train.txt` beside `train.ann` is a document.
    """
    if not source.is_dir():
        return {}
    children = sorted(child for child in source.iterdir() if not child.name.startswith("."))
    if len(children) == 1 and children[0].is_dir() and _split_named(children[0].name) is None:
        return find_splits(children[0])
    if any(child.suffix == ".ann" for child in children):
        children = [child for child in children if child.is_dir()]
    found: dict[str, Path] = {}
    for child in children:
        split = _split_named(child.name)
        if split in found:
            raise DisconerError(
                f"Two files could be the {split} split",
                where=Where(str(source)),
                got=f"{found[split].name} and {child.name}",
                fix="Rename or move one of them.",
            )
        if split:
            found[split] = child
    return found if TRAIN in found else {}


def _split_named(name: str) -> str | None:
    """The split that a file or folder is named after, if there is exactly one."""
    splits = {_SPLIT_OF[word] for word in _LETTERS.findall(name.lower()) if word in _SPLIT_OF}
    return splits.pop() if len(splits) == 1 else None


def splits_in_ids(ids: Sequence[str]) -> dict[str, str]:
    """Every document's split from the folders in its id ("phee/train/7"); empty unless all have one."""
    found = {id: split for id in ids if (split := _split_in(id))}
    return found if len(found) == len(ids) and TRAIN in found.values() else {}


def _split_in(id: str) -> str | None:
    """The split that a folder in a document's id names."""
    folders = PurePosixPath(id).parts[:-1]
    return next((_SPLIT_OF[folder.lower()] for folder in folders if folder.lower() in _SPLIT_OF), None)


@dataclass(frozen=True, slots=True)
class Division:
    """How documents without splits are divided.

    ratios: of train, dev and test; they need not sum to anything.
    seed: another one gives other splits.
    group: a pattern; documents whose ids agree in what it matches (its first group, if it has one) stay together.
        Without one, documents of one text do.
    """

    ratios: tuple[float, float, float] = (80, 10, 10)
    seed: int = 0
    group: re.Pattern[str] | None = None

    @classmethod
    def parse(cls, ratios: str | None, seed: int, group: str | None) -> Division:
        """From the command line: 80/10/10, or 80/20 for no test split."""
        try:
            pattern = None if group is None else re.compile(group)
        except re.error as error:
            raise DisconerError(
                "This is not a pattern", got=f"{group!r}: {error}", expected=r"such as '^(\d+)'"
            ) from error
        return cls(cls.ratios_of(ratios) if ratios else DEFAULT_RATIOS, seed, pattern)

    @staticmethod
    def ratios_of(text: str) -> tuple[float, float, float]:
        """
        >>> Division.ratios_of("70/20/10"), Division.ratios_of("80/20")
        ((70.0, 20.0, 10.0), (80.0, 20.0, 0.0))
        """
        parts = text.split("/")
        if len(parts) in (2, 3) and all(re.fullmatch(r"\d{1,9}(\.\d{1,9})?", part) for part in parts):
            train, dev, *test = map(float, parts)
            if train and dev:
                return train, dev, test[0] if test else 0.0
        raise DisconerError(
            "These are not ratios",
            got=repr(text),
            expected="train/dev/test such as 80/10/10, or train/dev such as 80/20",
        )

    def fraction(self, split: str) -> float:
        return self.ratios[(TRAIN, DEV, TEST).index(split)] / sum(self.ratios)

    def group_of(self, id: str) -> str:
        """The key that a document shares with others of its group; its id, if it is in none."""
        found = self.group.search(id) if self.group else None
        return id if found is None else found[1 if found.re.groups else 0] or id

    def outside(self, ids: Iterable[str]) -> list[str]:
        """Ids that do not match the pattern, if there is one: each is a group by itself."""
        return [id for id in ids if self.group and not self.group.search(id)]

    def order(self, group: str) -> bytes:
        seed = f"{self.seed}\n" if self.seed else ""
        return hashlib.sha256(f"{seed}{group}".encode("utf-8", "surrogatepass")).digest()


DEFAULT_RATIOS = (80.0, 10.0, 10.0)
BY_ID = Division()


def take_splits(
    ids: Sequence[str],
    wanted: Sequence[str],
    division: Division = BY_ID,
    texts: Mapping[str, Hashable] | None = None,
) -> dict[str, str]:
    """Every document's split: its ratio (at least one group) for each split to be made, the rest for training.

    It depends on a hash of ids and seed only, so it is reproducible, wherever the data is and in any order.
    texts: by id, a key that documents with the same text share; they stay together unless grouped by a pattern.
    """
    if ids and len(division.outside(ids)) == len(ids):
        raise DisconerError(
            "No id of a document matches --group",
            got=f"ids such as {ids[0]!r}",
            expected=f"ids that match {division.group.pattern!r}" if division.group else None,
            fix="Correct the pattern: a regular expression, found anywhere in an id.",
        )
    groups = _groups(ids, division, texts or {})
    if len(groups) < 2:
        raise _too_few(ids, division)
    left = sorted(groups, key=division.order)
    taken = dict.fromkeys(ids, TRAIN)
    for split in wanted:
        for group in _filling({group: len(groups[group]) for group in left}, len(ids) * division.fraction(split)):
            left.remove(group)
            taken |= dict.fromkeys(groups[group], split)
    return taken


def _filling(sizes: Mapping[str, int], wanted: float) -> list[str]:
    """The first groups that make a split of about the wanted size: one that would miss it by more is skipped.

    sizes: of each group, in order. At least one group is taken, and one is left for training.

    >>> _filling({"a": 2, "b": 60, "c": 9, "d": 1}, 10), _filling({"a": 60, "b": 40}, 10), _filling({"a": 1}, 10)
    (['a', 'c'], ['b'], [])
    """
    chosen: list[str] = []
    size, n_taken = max(1, round(wanted)), 0
    for group, n in sizes.items():
        if abs(size - n_taken - n) < size - n_taken and len(chosen) + 1 < len(sizes):
            chosen.append(group)
            n_taken += n
    return chosen or sorted(sizes, key=sizes.__getitem__)[: min(1, len(sizes) - 1)]


def _too_few(ids: Sequence[str], division: Division) -> DisconerError:
    if len(ids) < 2:
        together, fix = "", "Make each text a separate document."
    elif division.group:
        together, fix = f", all in the group {division.group_of(ids[0])!r}", "Choose another --group."
    else:
        together, fix = ", all with the same text", "Add documents with other texts."
    return DisconerError(
        "Too few documents to split into train and dev",
        got=f"{len(ids)}{together}",
        expected="at least 2, better 100",
        fix=fix,
    )


def _groups(ids: Sequence[str], division: Division, texts: Mapping[str, Hashable]) -> dict[str, list[str]]:
    """The documents that stay together, by name of the group: by the pattern if there is one, else by their text.

    Not both: a note that all patients have ("No complaints.") would put all of them together.
    """
    together: dict[Hashable, list[str]] = {}
    for id in ids:
        together.setdefault(division.group_of(id) if division.group else texts.get(id, id), []).append(id)
    return {max(map(division.group_of, group)): group for group in together.values()}  # whatever its size, any place


@dataclass(frozen=True, slots=True)
class Splits:
    """The path of each split, existing or still to be written.

    assigned: the split of each document of `source` that is still to be copied there; empty if all are there.
    taken: the splits that were taken from the training documents, because the data had none.
    division: how they were taken.
    """

    paths: Mapping[str, Path]
    source: Path
    format: str | None
    assigned: Mapping[str, str]
    taken: Sequence[str]
    division: Division = BY_ID

    def documents(self, split: str) -> Iterator[Document]:
        """The documents of a split, read from where they are before it is written."""
        if split not in self.assigned.values():
            return read(self.paths[split], self.format)
        return (document for document in read(self.source, self.format) if self.assigned[document.id] == split)

    def write(self, folder: Path) -> None:
        """Copy the assigned documents to one JSONL file per split in `folder`, all of them or none."""
        with new_folder(folder) as staging:
            for split in sorted(set(self.assigned.values())):
                write(self.documents(split), staging / self.paths[split].name, "jsonl")


def plan_splits(source: Path, format: str | None, folder: Path, division: Division = BY_ID) -> Splits:
    """The splits of `source`; missing ones are planned as files in `folder`."""
    found = find_splits(source)
    if DEV in found:
        return Splits(found, source, format, {}, ())
    source = found.get(TRAIN, source)
    texts = {document.id: text_key(document) for document in read(source, format)}
    ids = list(texts)
    assigned = splits_in_ids(ids)
    missing = {DEV, TEST} - found.keys() - set(assigned.values())
    taken = [split for split in sorted(missing) if division.fraction(split)] if DEV in missing else []
    if taken:
        assigned |= take_splits([id for id in ids if assigned.get(id, TRAIN) == TRAIN], taken, division, texts)
    planned = {split: folder / f"{split}.jsonl" for split in (TRAIN, DEV, TEST) if split in assigned.values()}
    return Splits(found | planned, source, format, assigned, taken, division)


def check_target(folder: Path, source: Path, *, force: bool) -> None:
    """Stop before any work if splits of `source` cannot go to `folder`, or if that would overwrite other files."""
    refuse_existing(folder, force)
    if folder.resolve().is_relative_to(source.resolve()):
        raise DisconerError(
            "The splits would be written inside the data, and be read as part of it the next time",
            where=Where(str(folder)),
            fix="Choose an --out outside the data.",
        )
    foreign = [path.name for path in folder.iterdir() if path.stem not in (TRAIN, DEV, TEST)] if folder.is_dir() else []
    if foreign:
        raise DisconerError(
            "This folder was not written by `disconer init`, so it is not replaced",
            where=Where(str(folder)),
            got=f"{foreign[0]} in it",
            fix="Move it away, or choose another --out.",
        )
