"""Training examples: windows with the gold entities of their sentence, and how much of those can be learnt."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from disconer.core.types import Document
from disconer.nn.windows import Window, Windower
from disconer.text.alignment import TokenEntity, Unaligned, align


@dataclass(slots=True)
class Learnable:
    """Counts training entities, and those that the model will never see, by reason.

    unaligned: by why tokens of one sentence cannot express them.
    cut: in a sentence too long for the encoder, and in none of its windows as a whole.
    too_wide: with a fragment wider than `max_width`.
    """

    max_width: int | None
    entities: int = 0
    unaligned: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    too_wide: int = 0

    def add_unaligned(self, unaligned: Sequence[Unaligned]) -> None:
        self.entities += len(unaligned)
        self.unaligned.update(item.reason for item in unaligned)

    def add_sentence(self, windows: Sequence[Window], entities: Sequence[TokenEntity]) -> None:
        self.entities += len(entities)
        for entity in entities:
            if not any(_holds(window, entity) for window in windows):
                self.cut += 1
            elif self.max_width is not None and _width(entity) > self.max_width:
                self.too_wide += 1

    @property
    def learnt(self) -> int:
        return self.entities - self.unaligned.total() - self.cut - self.too_wide

    def lines(self) -> Iterator[str]:
        """What is left out, in words; nothing where nothing is."""
        total = f"of {self.entities:,} training entities"
        if self.unaligned:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.unaligned.most_common())
            count = self.unaligned.total()
            yield f"{count:,} {total} cannot be expressed by tokens of one sentence ({reasons})"
        if self.cut:
            yield f"{self.cut:,} {total} are longer than what the encoder takes at once"
        if self.too_wide:
            yield f"{self.too_wide:,} {total} have a fragment wider than head.max_width, {self.max_width} words"


def _holds(window: Window, entity: TokenEntity) -> bool:
    return window.start <= entity.ranges[0][0] and entity.ranges[-1][1] <= window.end


def _width(entity: TokenEntity) -> int:
    return max(end - first for first, end in entity.ranges)


@dataclass(frozen=True, slots=True)
class Example:
    """A window and the gold entities of its sentence, by position in the sentence.

    document: the number of the document that it is of. Windows of one document follow one another.
    """

    window: Window
    entities: list[TokenEntity]
    document: int


def make_examples(documents: Iterable[Document], windower: Windower, account: Learnable) -> list[Example]:
    """All windows of segmented documents; `account` counts the entities, and those that no window can teach."""
    examples = []
    for number, document in enumerate(documents):
        aligned, unaligned = align(document)
        account.add_unaligned(unaligned)
        for windows, entities in zip(windower.windows(document), aligned, strict=True):
            account.add_sentence(windows, entities)
            examples += [Example(window, entities, number) for window in windows]
    return examples


def examples_fingerprint(examples: Iterable[Example]) -> str:
    """Tells examples apart by what the encoder reads of them."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(example.window.pieces.ids.tobytes() + b"\0")
    return digest.hexdigest()[:8]
