"""Training examples: windows with the gold entities of their sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from disconer.core.types import Document
from disconer.nn.examples import Windower
from disconer.nn.windows import Window
from disconer.text.alignment import TokenEntity, align
from disconer.training.learnable import Learnable


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
