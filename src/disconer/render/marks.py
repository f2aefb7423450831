"""What is drawn: entities, and in a comparison whether each is right, missed or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from disconer.core.types import Document, Entity
from disconer.evaluate.mistakes import mistakes

CAPTION_LENGTH = 28  # characters of a label that are drawn; the description has all of it
TEXT_LENGTH = 200  # characters of an entity's text in its description


class Standing(StrEnum):
    """The status of an entity in a comparison of predictions with gold."""

    PLAIN = "plain"  # there is no comparison
    RIGHT = "right"
    MISSED = "missed"  # gold that was not predicted
    WRONG = "wrong"  # predicted, but not gold


_SIGNS = {Standing.PLAIN: "", Standing.RIGHT: "", Standing.MISSED: "− ", Standing.WRONG: "+ "}
_WORDS = {
    Standing.PLAIN: "",
    Standing.RIGHT: ", right",
    Standing.MISSED: ", gold, not predicted: ",
    Standing.WRONG: ", predicted, not gold: ",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """An entity to draw; in a comparison with its standing and error class."""

    entity: Entity
    standing: Standing = Standing.PLAIN
    error: str = ""

    @property
    def caption(self) -> str:
        """The caption under the entity: its label, with a sign and its error class."""
        label = shortened(self.entity.label, CAPTION_LENGTH)
        return f"{_SIGNS[self.standing]}{label} {self.error}".rstrip()

    @property
    def description(self) -> str:
        """A full description of the entity, for tooltips and screen readers.

        >>> Mark(Document("d", "pain in hands", (Entity("ADR", ((0, 4), (8, 13)), score=0.9),)).entities[0]).description
        'ADR: “pain … hands”, discontinuous, characters 0–4 and 8–13, score 0.90'
        """
        entity = self.entity
        places = " and ".join(f"{start}–{end}" for start, end in entity.fragments)
        kind = "" if entity.kind is None else f", {entity.kind}"
        score = "" if entity.score is None else f", score {entity.score:.2f}"
        return f"{entity.label}: “{self.quoted}”{kind}, characters {places}{score}{_WORDS[self.standing]}{self.error}"

    @property
    def quoted(self) -> str:
        """The entity's text, with an ellipsis for each gap."""
        parts, position = [], 0
        for start, end in self.entity.fragments:  # `entity.text` joins them by spaces
            parts.append(self.entity.text[position : position + end - start])
            position += end - start + 1
        return shortened(" … ".join(parts), TEXT_LENGTH)


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plain_marks(document: Document) -> list[Mark]:
    return [Mark(entity) for entity in document.entities]


def compared_marks(gold: Document, predicted: Document) -> list[Mark]:
    """Gold against predicted: correct entities once, and both sides of every error."""
    known = {entity.key for entity in gold.entities}
    right = {entity.key: Mark(entity, Standing.RIGHT) for entity in predicted.entities if entity.key in known}
    marks = list(right.values())
    for mistake in mistakes(gold, predicted):
        marks += [Mark(entity, Standing.MISSED, mistake.error.words) for entity in mistake.gold]
        marks += [Mark(entity, Standing.WRONG, mistake.error.words) for entity in mistake.predicted]
    return marks
