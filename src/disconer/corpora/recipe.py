"""What a benchmark corpus is to disconer: a recipe from its official distribution to the literature's splits.

Also what recipes share: splits, and entities that fit the words of the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import md5
from importlib.resources import files
from pathlib import Path

from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Corpus, Document, Entity, Fragment, normalise

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
