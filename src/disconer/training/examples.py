"""Training examples: windows with gold entities; which entities can be learned, and which examples form which batch."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any

import numpy as np

from disconer.config import HeadSettings, TrainingConfig
from disconer.core.types import Document
from disconer.nn.heads.kind import kind_of
from disconer.nn.windows import Window, Windower, affordable, passages, shuffled_batches
from disconer.text.alignment import TokenEntity, Unaligned, align, cuts_word


@dataclass(slots=True)
class Learnable:
    """Counts training entities, and those that the model can never find, by reason.

    head: settings of the head. labels: of the entities that count, those to predict; None: all.
    whole_words: whether entities that cut words are left out of predictions.
    unaligned: by reason why tokens of one sentence cannot express them.
    cut: in a sentence too long for the encoder, and not completely in the window that owns their first word.
    lost: by reason why the head cannot express them.
    """

    head: HeadSettings
    labels: Collection[str] | None = None
    whole_words: bool = False
    entities: int = 0
    unaligned: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    def add_unaligned(self, unaligned: Sequence[Unaligned]) -> None:
        unaligned = [item for item in unaligned if self._counts(item.entity.label)]
        self.entities += len(unaligned)
        self.unaligned.update(item.reason for item in unaligned)

    def add_sentence(
        self, windows: Sequence[Window], entities: Sequence[TokenEntity], cutting: Collection[Any] = ()
    ) -> None:
        """cutting: keys of the entities that cut words."""
        entities = [entity for entity in entities if self._counts(entity.label)]
        self.entities += len(entities)
        reasons: dict[Any, str | None] = {}  # of each entity that its window holds, why the head loses it, if it does
        for window in windows:
            held = window.within(list(entities))
            lost = kind_of(self.head).reach(held, len(window), self.head).lost if held else {}
            for entity in held:
                if window.owns(entity.ranges[0][0]):
                    reasons[entity.entity.key] = lost.get(entity.key)
        for entity in entities:
            if self.whole_words and entity.entity.key in cutting:
                self.lost["begins or ends inside a word (data.whole_words)"] += 1
            elif not windows:
                self.lost["is in a sentence without letters and digits"] += 1
            elif entity.entity.key not in reasons:
                self.cut += 1
            elif reason := reasons[entity.entity.key]:
                self.lost[reason] += 1

    def _counts(self, label: str) -> bool:
        return self.labels is None or label in self.labels

    @property
    def learnable(self) -> int:
        return self.entities - self.unaligned.total() - self.cut - self.lost.total()

    def lines(self) -> Iterator[str]:
        """What is left out, in words; nothing if nothing is."""
        total = f"of {self.entities:,} training entities"
        if self.unaligned:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.unaligned.most_common())
            count = self.unaligned.total()
            yield f"{count:,} {total} cannot be expressed by tokens of one sentence ({reasons})"
        if self.cut:
            verb = "is" if self.cut == 1 else "are"
            yield f"{self.cut:,} {total} {verb} cut where a sentence is too long for the encoder's window"
        for reason, count in self.lost.most_common():
            yield f"{count:,} {total} cannot be found: each {reason}"


@dataclass(frozen=True, slots=True)
class Example:
    """A window and the gold entities of its sentence, by position in the sentence.

    document: index of its document. Windows of one document are consecutive.
    """

    window: Window
    entities: list[TokenEntity]
    document: int


TOGETHER = 256  # documents whose subwords are made together


def make_examples(documents: Sequence[Document], windower: Windower, account: Learnable) -> list[Example]:
    """All windows of segmented documents; `account` counts the entities, and those that cannot be learned."""
    examples = []
    together = (documents[first : first + TOGETHER] for first in range(0, len(documents), TOGETHER))
    found = chain.from_iterable(map(windower.windows_of, together))
    for number, (document, own) in enumerate(zip(documents, found, strict=True)):
        aligned, unaligned = align(document)
        account.add_unaligned(unaligned)
        cutting = {entity.key for entity in document.entities if cuts_word(document.text, entity.fragments)}
        for windows, entities in zip(own, aligned, strict=True):
            account.add_sentence(windows, entities, cutting)
            examples += [Example(window, entities, number) for window in windows]
    return examples


def examples_fingerprint(examples: Iterable[Example]) -> str:
    """A hash of what the encoder reads of the examples."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(example.window.subwords.ids.tobytes() + b"\0")
    return digest.hexdigest()[:8]


PASS_SEEDS = 100_003  # separates the seeds of one run's passes from those of another


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples that go through the network together.

    passages: indices of examples, grouped by what the encoder reads together.
    seed: of all randomness in it. It depends only on the batch's position in the plan, so that dropout does not
        depend on the process that takes the batch or on whether the run was resumed.
    weight: factor of its summed loss, such that gradients averaged over processes are those of the mean loss per
        example. 0 for a dummy batch of a process that has none of its own.
    """

    passages: list[list[int]]
    seed: int
    weight: float

    @property
    def examples(self) -> list[int]:
        return [number for passage in self.passages for number in passage]


# Times batch_tokens, a batch's words with its windows padded to the longest. Real corpora reach 10 times (16 with a
# context of 510 subwords), so that this bounds memory without changing their batches.
MOST_PADDED = 16

Step = list[Batch]  # one process's batches of an optimizer step


class Plan:
    """The steps of each epoch, as one process sees them.

    passes: over the data in each epoch, as many as `steps_at_least` requires. They are numbered across epochs, from
        1, and seeded by their number: three passes of one epoch equal three epochs of one pass.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        settings: TrainingConfig,
        *,
        context: int = 0,
        process: int = 0,
        n_processes: int = 1,
    ) -> None:
        self._words = [len(example.window) for example in examples]
        self._subwords = [len(example.window.subwords.ids) for example in examples]
        by_document = groupby(range(len(examples)), lambda number: examples[number].document)
        self._documents = [list(own) for _, own in by_document]
        self._settings, self._context = settings, context
        self._process, self._n_processes = process, n_processes
        self._batches_a_step = settings.accumulate * n_processes
        self.passes = self._passes_an_epoch()

    def steps(self, epoch: int) -> list[Step]:
        """All steps of an epoch, counted from 1."""
        before = (epoch - 1) * self.passes
        own = range(before + 1, before + self.passes + 1)
        return [step for pass_number in own for step in self._steps_of_pass(pass_number)]

    def count_steps(self) -> int:
        """Steps of all epochs."""
        return sum(map(self._count_steps_of_pass, range(1, self._settings.epochs * self.passes + 1)))

    def _passes_an_epoch(self) -> int:
        n_steps, wanted = 0, self._settings.steps_at_least
        for n_passes in range(1, wanted + 1):  # each has a step at least
            n_steps += self._count_steps_of_pass(n_passes)
            if n_steps >= wanted:
                return math.ceil(n_passes / self._settings.epochs)
        return 1

    def _steps_of_pass(self, pass_number: int) -> list[Step]:
        batches = self._batches(pass_number)
        source = np.random.SeedSequence((self._settings.seed, pass_number))
        seeds = source.generate_state(len(batches), np.uint64).tolist()
        numbers = range(len(batches))
        size = self._batches_a_step
        groups = [numbers[first : first + size] for first in range(0, len(batches), size)]
        return [self._step(group, batches, seeds) for group in groups]

    def _count_steps_of_pass(self, pass_number: int) -> int:
        return math.ceil(len(self._batches(pass_number)) / self._batches_a_step)

    def _batches(self, pass_number: int) -> list[list[list[int]]]:
        seed = self._settings.seed * PASS_SEEDS + pass_number
        cut = self._passages(seed)
        lengths = [[self._words[number] for number in passage] for passage in cut]
        plan = shuffled_batches(list(map(sum, lengths)), self._settings.batch_tokens, seed)
        most = MOST_PADDED * self._settings.batch_tokens
        parts = (part for batch in plan for part in affordable(batch, lengths, int, most))
        return [[cut[number] for number in part] for part in parts]

    def _passages(self, seed: int) -> list[list[int]]:
        """Passages differ in every pass: a sentence is seen with much context, with little, and sometimes alone."""
        rng = random.Random(seed)
        found = []
        for document in self._documents:
            most = round(self._context * rng.random())
            cut = passages([self._subwords[number] for number in document], most)
            found += [[document[place] for place in passage] for passage in cut]
        return found

    def _step(self, group: range, batches: list[list[list[int]]], seeds: list[int]) -> Step:
        own = group[self._process :: self._n_processes]
        weight = self._n_processes / sum(len(passage) for number in group for passage in batches[number])
        if not own:
            return [Batch(batches[group[0]], seeds[group[0]], 0.0)]
        return [Batch(batches[number], seeds[number], weight) for number in own]
