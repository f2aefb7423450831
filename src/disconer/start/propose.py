"""What training data holds, and the configuration that it asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from disconer.config import Config, DataConfig, config_from_dict
from disconer.core.types import Document
from disconer.start.splits import DEV, TEST, TRAIN, Splits
from disconer.text import SPLITTERS, segment
from disconer.text.alignment import Range, TokenEntity, align

COVERED = 0.99  # share of the fragments that a width limit must reach
NARROWEST = 6  # the paper's narrowest limit: a small sample must not bind a model more tightly
SEVERAL = 0.01  # share of the spans with two labels from which a model should give several
WORTH_LINES = 0.005  # share of the entities that sentences by lines must save to be preferred to those by rules


@dataclass(slots=True)
class Survey:
    """Counts over documents; those without sentences are cut by one splitter."""

    splitter: str
    documents: int = 0
    words: int = 0
    parsed: int = 0  # sentences with heads
    entities: int = 0
    unaligned: int = 0  # entities that the words of one sentence cannot express
    labels: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    widths: Counter[int] = field(default_factory=Counter)  # of spans, each once, in words
    several: int = 0  # spans with more than one label

    def add(self, document: Document) -> None:
        """Count a document that has sentences."""
        self.documents += 1
        self.entities += len(document.entities)
        self.labels.update(entity.label for entity in document.entities)
        self.kinds.update(entity.kind.value for entity in document.entities if entity.kind)
        aligned, unaligned = align(document)
        self.unaligned += len(unaligned)
        for sentence, entities in zip(document.sentences or (), aligned, strict=True):
            self.words += len(sentence.tokens)
            self.parsed += sentence.heads is not None
            self._add_spans(entities)

    def _add_spans(self, entities: Iterable[TokenEntity]) -> None:
        labels: dict[Range, set[str]] = {}
        for entity in entities:
            for span in entity.ranges:
                labels.setdefault(span, set()).add(entity.label)
        self.widths.update(end - first for first, end in labels)
        self.several += sum(len(own) > 1 for own in labels.values())

    @property
    def max_width(self) -> int:
        """The narrowest limit that reaches enough of the fragments."""
        width = next((width for width in sorted(self.widths) if self.covered(width) >= COVERED), NARROWEST)
        return max(width, NARROWEST)

    def covered(self, width: int) -> float:
        """Share of the fragments that are not wider than `width` words."""
        total = self.widths.total()
        return sum(count for own, count in self.widths.items() if own <= width) / total if total else 1.0

    @property
    def several_share(self) -> float:
        total = self.widths.total()
        return self.several / total if total else 0.0


def survey(documents: Iterable[Document]) -> Survey:
    """What these documents hold, cut by the splitter that suits them."""
    rules, lines = Survey("rules"), Survey("lines")
    for document in documents:
        for found in (rules, lines):
            found.add(segment(document, SPLITTERS[found.splitter]))
    return lines if rules.unaligned - lines.unaligned > WORTH_LINES * rules.entities else rules


STEPS = 100  # an epoch, at least: small data needs small batches to learn from at all
SMALLEST_BATCH = 128
LISTED = 8  # labels named one by one


def propose(splits: Splits, survey: Survey, base: Config | None = None) -> Config:
    """`base` (or the defaults) fitted to the data: its paths, sentences, widest fragments, labels and size."""
    values = (base or Config(data=DataConfig(train=TRAIN, dev=DEV))).to_dict()
    paths = {split: str(splits.paths[split]) if split in splits.paths else None for split in (TRAIN, DEV, TEST)}
    values["data"] = {**paths, "format": None if splits.assigned else splits.format, "splitter": survey.splitter}
    values["head"]["max_width"] = survey.max_width
    values["head"]["labels"] = "many" if survey.several_share > SEVERAL else "one"
    values["training"]["batch_tokens"] = _batch_tokens(survey.words, values["training"]["batch_tokens"])
    return config_from_dict(values)


def _batch_tokens(words: int, most: int) -> int:
    """`most`, halved until an epoch has enough steps.

    >>> _batch_tokens(1_000_000, 1024), _batch_tokens(30_000, 1024), _batch_tokens(500, 1024)
    (1024, 256, 128)
    """
    size = most
    while size >= 2 * SMALLEST_BATCH and words < STEPS * size:
        size //= 2
    return size


def findings(config: Config, survey: Survey, splits: Splits) -> Iterator[str]:
    """What was found and what was made of it, a fact a line."""
    limit = survey.max_width
    yield f"{survey.documents:,} documents to learn from, {survey.words:,} words, {survey.entities:,} entities."
    yield f"Labels: {_counts(survey.labels)}."
    yield f"Kinds: {_counts(survey.kinds)}."
    yield f"Spans up to {limit} words: {survey.covered(limit):.1%} of the fragments."
    yield f"Labels a span: {config.head.labels}; {survey.several_share:.1%} of the spans have several."
    if survey.unaligned:
        yield f"Out of reach: {survey.unaligned:,} entities that cross sentences or cut words; see `disconer check`."
    if survey.parsed and config.syntax.gcn is None:
        yield "The sentences have syntactic heads; the section `syntax` can make use of them."
    if splits.taken:
        yield f"Split by a hash of the documents' ids: {_counts(Counter(splits.assigned.values()))}."
        yield "Documents that belong together (one patient, one trial) should stay together: if that matters for"
        yield "yours, sort them into folders train, dev and test yourself, and start again."


def _counts(counter: Counter[str]) -> str:
    """The most frequent things with their counts."""
    listed = [f"{name} {count:,}" for name, count in counter.most_common(LISTED)]
    more = len(counter) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more else "")
