"""A configuration for training data, and for a model to start from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from disconer.config import Config, DataConfig, TrainingConfig, config_from_dict, load_head
from disconer.core.counting import counted
from disconer.core.ledger import Amount
from disconer.core.places import CONFIG
from disconer.evaluate.stats import Survey
from disconer.nn.heads.kind import kind_of
from disconer.start.splits import DEV, TEST, TRAIN, Splits
from disconer.store.description import read_description
from disconer.store.names import find_model


@dataclass(frozen=True, slots=True)
class Start:
    """A model to start from: its name, configuration and labels."""

    name: str
    config: Config
    labels: tuple[str, ...]

    def settings(self, base: Config | None, head: str | None) -> Config:
        """`base` (or the defaults), with all settings that must match the model.

        head: the kind of head; None: that of `base`, or without one the model's.
        """
        own = self.config.to_dict()
        values = (base or Config(data=DataConfig(train=TRAIN, dev=DEV))).to_dict()
        kind = head or (base.head.kind if base else self.config.head.kind)
        if kind == self.config.head.kind:
            values["head"] = own["head"]
        values["data"]["tokenizer"] = own["data"]["tokenizer"]
        values["training"]["start_from"] = self.name
        return config_from_dict(values | {"encoder": own["encoder"], "syntax": own["syntax"]})

    def findings(self, config: Config, labels: Collection[str]) -> Iterator[str]:
        """What a configuration takes from the model. labels: those of the data."""
        words = f"Training starts from {self.name} (encoder {config.encoder.name})"
        if config.head.kind == self.config.head.kind:
            shared = ", ".join(sorted(set(labels) & set(self.labels))) or "none"
            yield f"{words}; labels reused: {shared}."
        else:
            yield f"{words}; its head, of kind {self.config.head.kind}, is not reused."


def read_start(name: str) -> Start:
    """A model by its name or path."""
    folder = find_model(name)
    description = read_description(folder)
    config = config_from_dict(description["config"], str(folder / CONFIG))
    return Start(name, config, tuple(description["labels"]))


STEPS = 100  # per epoch, at least: small data needs small batches to learn from at all
SMALLEST_BATCH = 128
LARGE_BATCH = 1024  # the smallest that the rates of presets were tried with
CUTTING = 0.005  # fraction of entities that may begin or end inside a word by mistake
LISTED = 8  # labels named one by one


class Proposed(NamedTuple):
    """A configuration, and sentences about what the head found in the data and chose."""

    config: Config
    findings: Sequence[str]


def propose(
    splits: Splits, survey: Survey, base: Config | None = None, head: str | None = None, *, folder: Path = Path()
) -> Proposed:
    """`base` (or the defaults) fitted to the data: its paths, sentences, head and batches.

    head: the kind of head, if not that of `base`. folder: that of the configuration, to which its paths are relative.
    """
    base = base or Config(data=DataConfig(train=TRAIN, dev=DEV))
    settings = base.head if head in (None, base.head.kind) else load_head(head)
    proposal = kind_of(settings).propose(survey, settings)
    values = base.to_dict()
    paths = {split: _seen_from(folder, splits.paths.get(split)) for split in (TRAIN, DEV, TEST)}
    values["data"] |= {**paths, "format": None if splits.assigned else splits.format, "splitter": survey.splitter}
    values["data"]["whole_words"] = survey.cutting <= CUTTING * survey.entities
    values["data"]["labels"] = None  # those of a preset's corpus are not of this one
    values["head"] = proposal.settings.model_dump(mode="json")
    training = values["training"]
    training["batch_tokens"] = _batch_tokens(survey.words, training["batch_tokens"])
    if training["batch_tokens"] < LARGE_BATCH:  # the higher rates of a preset were chosen with its batches
        for name in ("head_rate", "adversarial"):
            training[name] = min(training[name], TrainingConfig.model_fields[name].default)
    return Proposed(config_from_dict(values), proposal.findings)


def _seen_from(folder: Path, path: Path | None) -> str | None:
    """A path as a configuration in `folder` names it: an absolute one stays as it is."""
    return None if path is None else str(path) if path.is_absolute() else os.path.relpath(path, folder)


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
    """What was found and chosen, one fact per line."""
    sizes = (survey.documents, "training documents"), (survey.words, "words"), (survey.entities, "entities")
    yield f"{', '.join(counted(*size) for size in sizes)}."
    yield f"Labels: {_counts(survey.labels)}."
    yield f"Kinds: {_counts(survey.kinds)}."
    yield from proposed.findings
    if survey.unaligned:
        unaligned = counted(survey.unaligned, "entities")
        yield f"Out of reach: {unaligned} across sentences or cutting words; see `disconer check`."
    if survey.cutting:
        begin_or_end = "begins or ends" if survey.cutting == 1 else "begin or end"
        then = "no prediction does" if proposed.config.data.whole_words else "predictions may, too"
        yield f"{counted(survey.cutting, 'entities')} {begin_or_end} inside a word: {then} (data.whole_words)."
    if survey.parsed and proposed.config.syntax.gcn is None:
        yield "The sentences have dependency heads; the section `syntax` can use them."
    if splits.taken:
        yield f"Split by a hash of the documents' ids: {_counts(Counter(splits.assigned.values()))}."
        if splits.division.group:
            outside = splits.division.outside(splits.assigned)
            n_groups = len(set(map(splits.division.group_of, splits.assigned.keys() - outside)))
            found = counted(n_groups, "groups")
            yield f"Documents of one group ({splits.division.group.pattern}) are in one split: {found}."
            if outside:
                yield f"Documents whose ids do not match, such as {outside[0]!r}, are in no group: {len(outside):,}."
        else:
            yield "Documents that belong together (one patient, one trial) should be in the same split. If yours do,"
            yield "and their ids show it, run this again with --group PATTERN, or use folders train, dev, test."


ENOUGH = 100  # entities: with fewer, the 95 % interval of a proportion is 10 points or more to each side
_USES = {DEV: "choose an epoch by", TEST: "measure the model by"}


def small_splits(survey: Survey, splits: Splits) -> Iterator[str]:
    """Which of dev and test are too small, and what to do about it."""
    n_entities = {TRAIN: survey.entities}
    said = []
    for split in (split for split in _USES if split in splits.paths):
        size = Amount()
        for _ in size.counted(splits.documents(split)):
            pass
        n_entities[split] = size.entities
        if size.entities < ENOUGH:
            said.append(f"{split} has {size}, too few to {_USES[split]}")
    if said:
        yield (
            f"{'; '.join(said)}. With fewer than {ENOUGH} entities, F1 is uncertain by 10 points or more. "
            f"{_more(splits, sum(n for split, n in n_entities.items() if split in (TRAIN, *splits.taken)))}"
        )


def _more(splits: Splits, n_entities: int) -> str:
    """How to get larger splits. n_entities: of train and what was taken from it."""
    if not splits.taken:
        return "Move documents there from train, or annotate more."
    if TEST in splits.taken and 0.2 * n_entities >= ENOUGH:
        return "For larger ones, add --ratios 60/20/20, or annotate more documents."
    if DEV in splits.taken and 0.4 * n_entities >= ENOUGH:
        larger = "For a larger dev and no test" if TEST in splits.taken else "For a larger dev"
        return f"{larger}, add --ratios 60/40, or annotate more documents."
    return "Annotate more documents."


def _counts(counter: Counter[str]) -> str:
    """The most frequent things with their counts."""
    listed = [f"{name} {count:,}" for name, count in counter.most_common(LISTED)]
    more = len(counter) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more else "")
