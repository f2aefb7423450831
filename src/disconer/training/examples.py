"""Training examples: windows with the gold entities of their sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from disconer.model.examples import Windower
from disconer.model.windows import Window
from disconer.text.align import TokenEntity, align
from disconer.training.learnable import Learnable
from disconer.types import Document


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
