"""Corpus statistics, in one pass and constant memory; the survey of training data, for a first configuration."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from disconer.core.types import Document, Entity, Kind
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.text.alignment import TokenEntity, align, cuts_word


@dataclass(slots=True)
class Histogram:
    """How often each number occurred."""

    counts: Counter[int] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        return self.counts.total()

    @property
    def mean(self) -> float:
        return sum(value * times for value, times in self.counts.items()) / self.n if self.n else 0.0

    @property
    def max(self) -> int:
        return max(self.counts, default=0)

    def quantile(self, fraction: float) -> int:
        """The quantile: the smallest number such that at least this fraction of values are not above it."""
        reached = 0
        for value, times in sorted(self.counts.items()):
            reached += times
            if reached >= fraction * self.n:
                return value
        return 0

    def between(self, low: int, high: int) -> int:
        """How many are from `low` to `high`, both included."""
        return sum(times for value, times in self.counts.items() if low <= value <= high)

    def to_dict(self) -> dict[str, Any]:
        return {
            "mean": self.mean,
            "median": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "max": self.max,
            "counts": {str(value): times for value, times in sorted(self.counts.items())},
        }


@dataclass(slots=True)
class Stats:
    """Statistics of a stream of documents.

    labels: of each label, how many entities of each kind.
    fragments: fragments per entity.
    gaps: tokens between a fragment and the next of its entity.
    fragment_widths, entity_widths: tokens of a fragment, and of an entity from its first token to its last.
    sentence_lengths: tokens of a sentence.
    crossing_sentences: entities that do not lie in one sentence.
    sentences_with_heads: sentences with dependency heads.
    """

    documents: int = 0
    characters: int = 0
    labels: defaultdict[str, Counter[Kind]] = field(default_factory=lambda: defaultdict(Counter))
    fragments: Histogram = field(default_factory=Histogram)
    gaps: Histogram = field(default_factory=Histogram)
    fragment_widths: Histogram = field(default_factory=Histogram)
    entity_widths: Histogram = field(default_factory=Histogram)
    sentence_lengths: Histogram = field(default_factory=Histogram)
    crossing_sentences: int = 0
    sentences_with_heads: int = 0

    @property
    def sentences(self) -> int:
        return self.sentence_lengths.n

    @property
    def tokens(self) -> int:
        return sum(length * times for length, times in self.sentence_lengths.counts.items())

    @property
    def entities(self) -> int:
        return self.fragments.n

    @property
    def kinds(self) -> Counter[Kind]:
        return sum(self.labels.values(), Counter())

    def add(self, document: Document) -> None:
        """Count one document; it is split into sentences and tokens if it has none."""
        document = segment(document)
        sentences = document.sentences or ()
        self.documents += 1
        self.characters += len(document.text)
        self.sentence_lengths.counts.update(len(sentence.tokens) for sentence in sentences)
        self.sentences_with_heads += sum(sentence.heads is not None for sentence in sentences)
        if document.entities:
            places = _Places(document)
            for entity in document.entities:
                self._add_entity(entity, places)

    def _add_entity(self, entity: Entity, places: _Places) -> None:
        assert entity.kind is not None  # it belongs to a document
        self.labels[entity.label][entity.kind] += 1
        self.fragments.counts[len(entity.fragments)] += 1
        ranges = [places.tokens(start, end) for start, end in entity.fragments]
        for first, end in ranges:
            self.fragment_widths.counts[end - first] += 1
        for (_, end), (first, _) in pairwise(ranges):
            self.gaps.counts[max(0, first - end)] += 1  # two fragments may lie in one token
        self.entity_widths.counts[ranges[-1][1] - ranges[0][0]] += 1
        self.crossing_sentences += places.crosses_sentences(entity.start, entity.end)

    def merge(self, other: Stats) -> None:
        """Add the statistics of other documents."""
        self.documents += other.documents
        self.characters += other.characters
        self.crossing_sentences += other.crossing_sentences
        self.sentences_with_heads += other.sentences_with_heads
        for label, kinds in other.labels.items():
            self.labels[label].update(kinds)
        for name in _HISTOGRAMS:
            getattr(self, name).counts.update(getattr(other, name).counts)

    def to_dict(self) -> dict[str, Any]:
        """JSON values under stable keys; histograms in tokens, except `fragments`."""
        kinds = self.kinds
        totals = (
            "documents",
            "sentences",
            "sentences_with_heads",
            "tokens",
            "characters",
            "entities",
            "crossing_sentences",
        )
        return {
            **{name: getattr(self, name) for name in totals},
            "kinds": {kind.value: {"count": kinds[kind], "percent": self.percent(kinds[kind])} for kind in Kind},
            "labels": {
                label: {
                    "entities": self.labels[label].total(),
                    **{kind.value: self.labels[label][kind] for kind in Kind},
                }
                for label in sorted(self.labels)
            },
            **{name: getattr(self, name).to_dict() for name in _HISTOGRAMS},
        }

    def percent(self, part: int) -> float:
        """A number of entities as a percentage of all."""
        return 100 * part / self.entities if self.entities else 0.0


_HISTOGRAMS = ("fragments", "gaps", "fragment_widths", "entity_widths", "sentence_lengths")


class _Places:
    """The tokens and sentences of a document, looked up by character offset."""

    def __init__(self, document: Document) -> None:
        sentences = document.sentences or ()
        self._starts = [token.start for sentence in sentences for token in sentence.tokens]
        self._ends = [token.end for sentence in sentences for token in sentence.tokens]
        self._sentence_ends = [sentence.end for sentence in sentences]

    def tokens(self, start: int, end: int) -> tuple[int, int]:
        """The positions [first, last + 1) of the tokens that share characters with [start, end)."""
        return bisect_right(self._ends, start), bisect_left(self._starts, end)

    def crosses_sentences(self, start: int, end: int) -> bool:
        return bisect_right(self._sentence_ends, start) != bisect_left(self._sentence_ends, end)


def stats(documents: Iterable[Document]) -> Stats:
    """The counts of documents, one after another."""
    counted = Stats()
    for document in documents:
        counted.add(document)
    return counted


WORTH_LINES = 0.005  # fraction of the entities that sentences by lines must save to be preferred to sentences by rules


class AnnotatedSentence(NamedTuple):
    """A sentence as heads see it: how many words it has, and its entities."""

    n_words: int
    entities: list[TokenEntity]


@dataclass(slots=True)
class Survey:
    """Counts over documents; those without sentences are cut by one splitter.

    unaligned: entities that the words of one sentence cannot express.
    cutting: entities that begin or end inside a word; see `cuts_word`.
    parsed: sentences with dependency heads.
    sentences: those with entities.
    """

    splitter: str
    documents: int = 0
    words: int = 0
    parsed: int = 0
    entities: int = 0
    unaligned: int = 0
    cutting: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    sentences: list[AnnotatedSentence] = field(default_factory=list)

    def add(self, document: Document) -> None:
        """Count a document that has sentences."""
        self.documents += 1
        self.entities += len(document.entities)
        self.labels.update(entity.label for entity in document.entities)
        self.kinds.update(entity.kind.value for entity in document.entities if entity.kind)
        aligned, unaligned = align(document)
        self.unaligned += len(unaligned)
        self.cutting += sum(cuts_word(document.text, entity.fragments) for entity in document.entities)
        for sentence, entities in zip(document.sentences or (), aligned, strict=True):
            self.words += len(sentence.tokens)
            self.parsed += sentence.heads is not None
            if entities:
                self.sentences.append(AnnotatedSentence(len(sentence.tokens), entities))


def survey(documents: Iterable[Document], tokenizer: str = "words") -> Survey:
    """The survey of these documents, split by the splitter that suits them."""
    rules, lines = Survey("rules"), Survey("lines")
    for document in documents:
        for found in (rules, lines):
            found.add(segment(document, SPLITTERS[found.splitter], TOKENIZERS[tokenizer]))
    return lines if rules.unaligned - lines.unaligned > WORTH_LINES * rules.entities else rules
