"""How much of the training data can be learnt: what tokens, windows and the width limit leave out is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from disconer.model.examples import Example
from disconer.text.align import TokenEntity, align
from disconer.types import Document


@dataclass(slots=True)
class Learnable:
    """Training entities that the model will never see, by reason.

    unaligned: by why tokens of one sentence cannot express them.
    cut: in a sentence too long for the encoder, and in none of its windows as a whole.
    too_wide: with a fragment wider than `max_width`.
    """

    entities: int = 0
    unaligned: Counter[str] = field(default_factory=Counter)
    cut: int = 0
    too_wide: int = 0
    max_width: int | None = None

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


def learnable(documents: Sequence[Document], examples: Sequence[Example], max_width: int | None) -> Learnable:
    """Count what of the entities of `documents` is in none of the `examples` that were made of them."""
    aligned = {id(entity): entity for example in examples for entity in example.entities}
    whole = {id(entity) for example in examples for entity in example.entities if _holds(example, entity)}
    return Learnable(
        entities=sum(len(document.entities) for document in documents),
        unaligned=Counter(item.reason for document in documents for item in align(document)[1]),
        cut=len(aligned) - len(whole),
        too_wide=sum(max_width is not None and _width(aligned[key]) > max_width for key in whole),
        max_width=max_width,
    )


def _holds(example: Example, entity: TokenEntity) -> bool:
    return example.window.start <= entity.ranges[0][0] and entity.ranges[-1][1] <= example.window.end


def _width(entity: TokenEntity) -> int:
    return max(end - first for first, end in entity.ranges)
