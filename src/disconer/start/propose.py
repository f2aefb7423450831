"""The configuration that training data asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from disconer.config import Config, DataConfig, config_from_dict, load_head
from disconer.evaluate.survey import Survey
from disconer.nn.heads.kind import kind_of
from disconer.start.splits import DEV, TEST, TRAIN, Splits

STEPS = 100  # per epoch, at least: small data needs small batches to learn from at all
SMALLEST_BATCH = 128
LISTED = 8  # labels named one by one


class Proposed(NamedTuple):
    """A configuration, and what the head found in the data and made of it, in sentences."""

    config: Config
    findings: Sequence[str]


def propose(splits: Splits, survey: Survey, base: Config | None = None, head: str | None = None) -> Proposed:
    """`base` (or the defaults) fitted to the data: its paths, sentences, head and batches.

    head: the kind of head, if not that of `base`.
    """
    base = base or Config(data=DataConfig(train=TRAIN, dev=DEV))
    settings = base.head if head in (None, base.head.kind) else load_head(head)
    proposal = kind_of(settings).propose(survey, settings)
    values = base.to_dict()
    paths = {split: str(splits.paths[split]) if split in splits.paths else None for split in (TRAIN, DEV, TEST)}
    values["data"] |= {**paths, "format": None if splits.assigned else splits.format, "splitter": survey.splitter}
    values["head"] = proposal.settings.model_dump(mode="json")
    values["training"]["batch_tokens"] = _batch_tokens(survey.words, values["training"]["batch_tokens"])
    return Proposed(config_from_dict(values), proposal.findings)


def _batch_tokens(words: int, most: int) -> int:
    """`most`, halved until an epoch has enough steps.

    >>> _batch_tokens(1_000_000, 1024), _batch_tokens(30_000, 1024), _batch_tokens(500, 1024)
    (1024, 256, 128)
    """
    size = most
    while size >= 2 * SMALLEST_BATCH and words < STEPS * size:
        size //= 2
    return size


def findings(proposed: Proposed, survey: Survey, splits: Splits) -> Iterator[str]:
    """What was found and what was made of it, one fact per line."""
    yield f"{survey.documents:,} training documents, {survey.words:,} words, {survey.entities:,} entities."
    yield f"Labels: {_counts(survey.labels)}."
    yield f"Kinds: {_counts(survey.kinds)}."
    yield from proposed.findings
    if survey.unaligned:
        yield f"Out of reach: {survey.unaligned:,} entities that cross sentences or cut words; see `disconer check`."
    if survey.parsed and proposed.config.syntax.gcn is None:
        yield "The sentences have dependency heads; the section `syntax` can use them."
    if splits.taken:
        yield f"Split by a hash of the documents' ids: {_counts(Counter(splits.assigned.values()))}."
        yield "Documents that belong together (one patient, one trial) should be in the same split. If yours do, sort"
        yield "them into folders train, dev and test, and run this again."


def _counts(counter: Counter[str]) -> str:
    """The most frequent things with their counts."""
    listed = [f"{name} {count:,}" for name, count in counter.most_common(LISTED)]
    more = len(counter) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more else "")
