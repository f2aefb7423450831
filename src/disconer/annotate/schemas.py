"""Requests and answers of the page, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, Field

from disconer.annotate.changes import Change, Key, fitted, next_number, notes
from disconer.annotate.documents import Documents
from disconer.annotate.labels import Label
from disconer.annotate.suggestions import Suggestion
from disconer.annotate.workspace import Opened, Summary
from disconer.core.types import Entity, Fragment, normalise
from disconer.render.html import LONGEST_LINE
from disconer.render.lines import wrapped_lines
from disconer.serve.problems import not_valid

Pairs = list[tuple[int, int]]
MANY = 100_000  # entities of a change


class GivenKey(BaseModel):
    """Label and fragments."""

    label: str = Field(min_length=1, max_length=500)
    fragments: Pairs = Field(min_length=1, max_length=1000)

    def key(self) -> Key:
        return self.label, tuple(Fragment(*pair) for pair in self.fragments)


class GivenEntity(GivenKey):
    id: str | None = Field(default=None, max_length=200)


class ChangeRequest(BaseModel):
    """A change that was made to a version of a document."""

    id: str
    version: str
    kind: Literal["edit", "accept", "reject", "resolve"] = "edit"
    remove: list[GivenEntity] = Field(default=[], max_length=MANY)
    add: list[GivenEntity] = Field(default=[], max_length=MANY)
    notes: dict[str, str] = {}
    reject: list[GivenKey] = Field(default=[], max_length=MANY)
    restore: list[GivenKey] = Field(default=[], max_length=MANY)

    def change(self, text: str, documents: Documents) -> Change:
        """The change itself; 422 for entities that are not in the text."""
        try:
            return Change(
                remove=tuple(Entity(one.label, normalise(one.fragments), one.id) for one in self.remove),
                add=tuple(fitted(documents.label(one.label), one.fragments, text, one.id) for one in self.add),
                notes=self.notes,
                reject=tuple(one.key() for one in self.reject),
                restore=tuple(one.key() for one in self.restore),
            )
        except ValueError as error:
            raise not_valid(f"An entity of this change is not in the text: {error}.") from None


class StepRequest(BaseModel):
    """A request to undo or redo a step, for a version of a document."""

    id: str
    version: str


class DoneRequest(BaseModel):
    id: str
    done: bool


def as_document(opened: Opened, *, done: bool) -> dict[str, Any]:
    """A document for the page. lines: the ranges of the text that are drawn one under the other."""
    text = opened.stored.document.text
    return as_state(opened, done=done) | {"text": text, "lines": list(wrapped_lines(text, LONGEST_LINE))}


def as_state(opened: Opened, *, done: bool) -> dict[str, Any]:
    """The parts of a document that can change."""
    document, noted = opened.stored.document, notes(opened.stored.document)
    return {
        "id": document.id,
        "version": opened.stored.version,
        "entities": [as_entity(entity, noted) for entity in document.entities],
        "rejected": [{"label": label, "fragments": fragments} for label, fragments in opened.history.rejected],
        "done": done,
        "can_undo": opened.can_undo,
        "can_redo": opened.can_redo,
        "removed_lines": opened.removed_lines,
        "next_number": next_number(document),
    }


def as_entity(entity: Entity, noted: dict[str, str]) -> dict[str, Any]:
    note = noted.get(entity.id or "", "")
    return {"id": entity.id, "label": entity.label, "fragments": entity.fragments, "note": note}


def as_summary(summary: Summary) -> list[Any]:
    return [summary.id, summary.n_entities, summary.done]


def as_suggestion(one: Suggestion) -> dict[str, Any]:
    return asdict(one)


def as_label(label: Label) -> dict[str, Any]:
    return asdict(label)
