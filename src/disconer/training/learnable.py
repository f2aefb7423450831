"""How much of the training data can be learnt: what tokens, windows and the width limit leave out is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from disconer.nn.windows import Window
from disconer.text.alignment import TokenEntity, Unaligned


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
