"""Training examples: windows with the gold entities of their sentence, and which of these can be learned."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from disconer.config import HeadSettings
from disconer.core.types import Document
from disconer.nn.heads.kind import kind_of
from disconer.nn.windows import Window, Windower
from disconer.text.alignment import TokenEntity, Unaligned, align


@dataclass(slots=True)
class Learnable:
    """Counts training entities, and those that the model can never find, by reason.

    head: settings of the head.
    unaligned: by reason why tokens of one sentence cannot express them.
    cut: in a sentence too long for the encoder, and not completely in any of its windows.
    lost: by reason why the head cannot express them.
    """

    head: HeadSettings
    entities: int = 0
    unaligned: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    def add_unaligned(self, unaligned: Sequence[Unaligned]) -> None:
        self.entities += len(unaligned)
        self.unaligned.update(item.reason for item in unaligned)

    def add_sentence(self, windows: Sequence[Window], entities: Sequence[TokenEntity]) -> None:
        self.entities += len(entities)
        reasons: dict[Any, str | None] = {}  # of each entity that a window holds, why the head loses it, if it does
        for window in windows:
            held = window.within(list(entities))
            lost = kind_of(self.head).reach(held, len(window), self.head).lost if held else {}
            for entity in held:
                if window.owns(entity.ranges[0][0]) or entity.entity.key not in reasons:
                    reasons[entity.entity.key] = lost.get(entity.key)
        for entity in entities:
            if entity.entity.key not in reasons:
                self.cut += 1
            elif reason := reasons[entity.entity.key]:
                self.lost[reason] += 1

    @property
    def learnt(self) -> int:
        return self.entities - self.unaligned.total() - self.cut - self.lost.total()

    def lines(self) -> Iterator[str]:
        """What is left out, in words; nothing if nothing is."""
        total = f"of {self.entities:,} training entities"
        if self.unaligned:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.unaligned.most_common())
            count = self.unaligned.total()
            yield f"{count:,} {total} cannot be expressed by tokens of one sentence ({reasons})"
        if self.cut:
            yield f"{self.cut:,} {total} are longer than the encoder's window"
        for reason, count in self.lost.most_common():
            yield f"{count:,} {total} cannot be found by this head: each {reason}"


@dataclass(frozen=True, slots=True)
class Example:
    """A window and the gold entities of its sentence, by position in the sentence.

    document: index of its document. Windows of one document are consecutive.
    """

    window: Window
    entities: list[TokenEntity]
    document: int


def make_examples(documents: Iterable[Document], windower: Windower, account: Learnable) -> list[Example]:
    """All windows of segmented documents; `account` counts the entities, and those that cannot be learned."""
    examples = []
    for number, document in enumerate(documents):
        aligned, unaligned = align(document)
        account.add_unaligned(unaligned)
        for windows, entities in zip(windower.windows(document), aligned, strict=True):
            account.add_sentence(windows, entities)
            examples += [Example(window, entities, number) for window in windows]
    return examples


def examples_fingerprint(examples: Iterable[Example]) -> str:
    """A hash of what the encoder reads of the examples."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(example.window.pieces.ids.tobytes() + b"\0")
    return digest.hexdigest()[:8]
