"""What a benchmark corpus is to disconer: a recipe from its official distribution to the literature's splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import md5
from importlib.resources import files
from pathlib import Path

from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Corpus

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

    name: how people choose it (`disconer prepare genia …`).
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
