"""Attach dependency heads to the sentences of documents, aligned by characters, and count those that get none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal, Protocol, TypeVar

from disconer.core.counting import counted
from disconer.core.errors import BadInput, DisconerError, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.text.syntax.cache import ParseCache
from disconer.text.syntax.parser import ROOT, Parse, Parser, Tree, Unparsed, Words, depths_of, problem_in

PART = "dep"  # the relation of a word to the one that represents its block
OTHER_TEXT = "the parser's words differ from the text"
NO_RELATIONS = "the numbers of relations and words differ"


def on_words(words: Words, parse: Parse) -> Tree | Unparsed:
    """The tree over our words that follows from a parse, if it is valid."""
    if problem := problem_in(parse.heads, len(parse.forms)):
        return Unparsed(problem)
    if len(parse.relations) != len(parse.forms):
        return Unparsed(NO_RELATIONS)
    if parse.forms == words.texts:
        return Tree(parse.heads, parse.relations)
    forms = ["".join(form.split()) for form in parse.forms]
    if "".join(forms) != "".join(words.texts) or not all(forms):
        return Unparsed(OTHER_TEXT)
    return _through_blocks(words.texts, forms, parse)


def _through_blocks(texts: Sequence[str], forms: Sequence[str], parse: Parse) -> Tree:
    ours, theirs = _ends(texts), _ends(forms)
    borders = sorted({*ours} & {*theirs})
    block_of_ours, block_of_theirs = _blocks(ours, borders), _blocks(theirs, borders)
    depths = depths_of(parse.heads)
    assert depths is not None  # the heads are valid
    top: dict[int, int] = {}  # of each block, the parser's topmost word
    for place, block in enumerate(block_of_theirs):
        if block not in top or depths[place] < depths[top[block]]:
            top[block] = place
    last = {block: place for place, block in enumerate(block_of_ours)}  # of each block, the last of our words
    heads, relations = [], []
    for place, block in enumerate(block_of_ours):
        head = parse.heads[top[block]]
        if place != last[block]:
            heads.append(last[block])
            relations.append(PART)
        else:
            heads.append(ROOT if head == ROOT else last[block_of_theirs[head]])
            relations.append(parse.relations[top[block]])
    return Tree(tuple(heads), tuple(relations), realigned=True)


def _ends(words: Sequence[str]) -> list[int]:
    """Where each word ends, counted in characters without whitespace."""
    return list(accumulate(map(len, words)))


def _blocks(ends: Sequence[int], borders: Sequence[int]) -> list[int]:
    """The block that each word lies in."""
    blocks = []
    block = 0
    for end in ends:
        blocks.append(block)
        block += end == borders[block]
    return blocks


DROPPED = "sentences whose heads in the data are not a tree, and were ignored: "
WITHOUT = "sentences without heads: "


@dataclass(slots=True)
class Account:
    """Counts of sentences.

    kept: had heads. given: got heads, from the parser or from the cache.
    asked: distinct sentences that were not in the cache, and so were parsed.
    forests: have several roots. realigned: were cut into other words by the parser.
    dropped: had heads that are not a tree, by problem. without: have no heads in the end, by reason.
    """

    kept: int = 0
    given: int = 0
    asked: int = 0
    forests: int = 0
    realigned: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)

    @property
    def with_heads(self) -> int:
        return self.kept + self.given

    @property
    def sentences(self) -> int:
        return self.with_heads + self.without.total()

    def lines(self) -> Iterator[str]:
        """The counts in words, one fact per line; zero counts are left out."""
        if not self.sentences:
            return
        yield (
            f"syntax: {self.with_heads:,} of {self.sentences:,} sentences have heads "
            f"({self.kept:,} had them in the data, {self.asked:,} were parsed now)"
        )
        ledger = Ledger()
        self.enter(ledger)
        for counts in (ledger.repairs, ledger.losses):
            for what, times in counts.most_common():
                yield f"syntax: {counted(times, what)}"

    def enter(self, ledger: Ledger) -> None:
        """Add to a ledger what was repaired and what is missing."""
        ledger.repaired("sentences with several roots, kept as they are", self.forests)
        ledger.repaired("sentences that the parser cut into other words, aligned by characters", self.realigned)
        for problem, times in self.dropped.items():
            ledger.repaired(DROPPED + problem, times)
        for reason, times in self.without.items():
            ledger.lost(WITHOUT + reason, times)


T = TypeVar("T")
Missing = Literal["skip", "error"]

NOT_IN_DATA = "the data has none"
KEEP_AFTER = 512  # sentences between two writes to the cache: the most that an aborted run loses


class Track(Protocol):
    """Passes items through and shows how many have passed."""

    def __call__(self, items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]: ...


def untracked(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    yield from items


class Syntax:
    """Adds heads to documents, in the same way for training and prediction.

    parser: None if heads come with the data only.
    missing: what to do about a sentence that gets none: continue and count it, or raise.
    """

    def __init__(
        self,
        parser: Parser | None,
        *,
        cache: ParseCache | None = None,
        missing: Missing = "skip",
        track: Track = untracked,
    ) -> None:
        self.parser, self._cache, self._missing, self._track = parser, cache, missing, track

    def __call__(self, documents: Sequence[Document], account: Account) -> list[Document]:
        """Documents with sentences, which get heads where possible; `account` counts them."""
        checked = [_without_invalid_heads(document, account) for document in documents]
        trees = self._find([words for document in checked for words in _unparsed_sentences(document)], account)
        return [self._complete(document, trees, account) for document in checked]

    def _find(self, sentences: Iterable[Words], account: Account) -> dict[Words, Tree | Unparsed]:
        if self.parser is None:
            return {}
        wanted = list(dict.fromkeys(sentences))
        found = self._cache.get(wanted) if self._cache else {}
        left = [words for words in wanted if words not in found]
        account.asked += len(left)
        fresh: dict[Words, Tree | Unparsed] = {}
        try:
            for words, parse in zip(left, self._parses(self.parser, left), strict=True):
                fresh[words] = on_words(words, parse) if isinstance(parse, Parse) else parse
                if len(fresh) >= KEEP_AFTER:
                    self._keep(fresh, found)
        finally:
            self._keep(fresh, found)
        self._refuse_nothing(found)
        return found

    def _parses(self, parser: Parser, sentences: list[Words]) -> Iterator[Parse | Unparsed]:
        parses = parser.parse(sentences)
        return self._track(parses, "sentences parsed", len(sentences)) if sentences else parses

    def _keep(self, fresh: dict[Words, Tree | Unparsed], found: dict[Words, Tree | Unparsed]) -> None:
        found |= fresh
        if self._cache:
            lasting = {words: tree for words, tree in fresh.items() if isinstance(tree, Tree) or tree.lasting}
            self._cache.put(lasting)
        fresh.clear()

    def _refuse_nothing(self, found: dict[Words, Tree | Unparsed]) -> None:
        """A parser that fails on every sentence, for a reason other than the sentences, is an error in any case."""
        down = [answer for answer in found.values() if isinstance(answer, Unparsed) and not answer.lasting]
        if self.parser and found and len(down) == len(found):
            raise self.no_trees(len(found), down[0].reason)

    def no_trees(self, n_sentences: int, reason: str) -> DisconerError:
        """The error that the parser gave none."""
        return DisconerError(
            f"The parser {self.parser.name if self.parser else ''} gave no tree for any of "
            f"{counted(n_sentences, 'sentences')}",
            got=reason,
            fix="Fix that, or choose another parser (--parser, or syntax.parser in a configuration).",
        )

    def _complete(self, document: Document, trees: dict[Words, Tree | Unparsed], account: Account) -> Document:
        sentences = document.sentences or ()
        completed = tuple([self._with_heads(document, sentence, trees, account) for sentence in sentences])
        changed = any(new is not old for new, old in zip(completed, sentences, strict=True))
        return document.replace(sentences=completed) if changed else document

    def _with_heads(
        self, document: Document, sentence: Sentence, trees: dict[Words, Tree | Unparsed], account: Account
    ) -> Sentence:
        if not sentence.tokens:
            return sentence
        if sentence.heads is not None:
            account.kept += 1
            account.forests += sentence.heads.count(ROOT) > 1
            return sentence
        tree = trees.get(Words.of(document.text, sentence), Unparsed(NOT_IN_DATA))
        if isinstance(tree, Unparsed):
            self._note_missing(tree.reason, document, sentence, account)
            return sentence
        account.given += 1
        account.forests += tree.n_roots > 1
        account.realigned += tree.realigned
        return replace(sentence, heads=tree.heads, relations=tree.relations)

    def _note_missing(self, reason: str, document: Document, sentence: Sentence, account: Account) -> None:
        if self._missing == "error":
            raise BadInput(
                "no-tree",
                "This sentence has no dependency heads",
                where=Where(document=document.id, offset=sentence.start),
                got=f"{reason}, for {excerpt(document.text[sentence.start : sentence.end])}",
                fix="With syntax.missing: skip, such sentences are used without heads, and counted.",
            )
        account.without[reason] += 1


def _without_invalid_heads(document: Document, account: Account) -> Document:
    """The document without heads that are not a tree: they are treated as missing."""
    sentences = []
    for sentence in document.sentences or ():
        problem = sentence.heads and problem_in(sentence.heads, len(sentence.tokens))
        if problem:
            account.dropped[problem] += 1
        sentences.append(replace(sentence, heads=None, relations=None) if problem else sentence)
    changed = any(new is not old for new, old in zip(sentences, document.sentences or (), strict=True))
    return document.replace(sentences=tuple(sentences)) if changed else document


def _unparsed_sentences(document: Document) -> Iterator[Words]:
    for sentence in document.sentences or ():
        if sentence.heads is None and sentence.tokens:
            yield Words.of(document.text, sentence)
