"""What all requests share: workspaces of annotators, labels, the model, its training, and the order of documents."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from disconer.annotate.documents import JsonlFile, open_documents
from disconer.annotate.labels import Label, project_labels, with_keys
from disconer.annotate.suggestions import Others, Suggester, Suggestion, suggestions
from disconer.annotate.trainer import Trainer
from disconer.annotate.usefulness import most_useful_first
from disconer.annotate.workspace import Opened, Summary, Workspace
from disconer.core.errors import DisconerError
from disconer.core.files import replace_file
from disconer.core.types import Document

Order = Literal["given", "useful"]
CURRENT_MODEL = "model.json"
AGAIN = 10  # documents to be done before the order of the rest is computed again


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a project.

    annotators: their names; the first is the default. each_in: a folder with one folder of each; None: all annotate
        the same documents.
    compare: versions of others by name, which are shown as suggestions.
    training: settings for training, as KEY=VALUE.
    all_done: mark documents that have entities as done.
    """

    path: Path
    annotators: Sequence[str] = ("annotator",)
    each_in: Path | None = None
    labels: str | None = None
    model: str | None = None
    compare: Mapping[str, Path] = field(default_factory=dict)
    training: Sequence[str] = ()
    all_done: bool = False


class Project:
    """A set of documents and their annotators. load: makes a suggester from a model's name or folder."""

    def __init__(self, settings: Settings, load: Callable[[str], Suggester]) -> None:
        self.path, self.annotators = settings.path, tuple(settings.annotators)
        self._settings, self._load = settings, load
        self._workspaces = _workspaces(settings)
        self._side = self.workspace(self.annotators[0]).documents.side.resolve()
        self._others = Others(settings.compare, _folder(settings.path))
        self.suggester = self._current_model()
        named = project_labels(settings.labels, _folder(settings.path))
        self._wanted = frozenset(label.name for label in named)  # of suggestions; none: all
        self._labels = named
        self.add_labels(self.workspace(self.annotators[0]).documents.labels())
        if self.suggester and not named:
            self.add_labels(self.suggester.labels)
        self.trainer = Trainer(
            self._side / "training", settings.training, load=lambda folder: load(str(folder)), take_over=self._take_over
        )
        self._ordering = _Ordering()
        if settings.all_done:
            self.mark_annotated()

    def workspace(self, annotator: str) -> Workspace:
        if annotator not in self._workspaces:
            raise DisconerError(
                f"There is no annotator {annotator!r}", expected=f"one of {', '.join(self._workspaces)}"
            )
        return self._workspaces[annotator]

    @property
    def labels(self) -> list[Label]:
        return self._labels

    def add_labels(self, names: Sequence[str]) -> None:
        """Add labels that annotators used, or that documents have, unless the project has them."""
        known = {label.name for label in self._labels}
        if new := [Label(name) for name in dict.fromkeys(names) if name not in known]:
            self._labels = with_keys([*self._labels, *new])

    def suggestions(self, opened: Opened) -> list[Suggestion]:
        """The suggestions for a document; those of the model only with the labels that the project defines, if any."""
        document = opened.stored.document
        found = suggestions(document.id, document.text, self.suggester, self._others)
        return [one for one in found if one.by or not self._wanted or one.label in self._wanted]

    @property
    def never_suggested(self) -> list[str]:
        """Labels that the project defines and the model does not have."""
        return [] if self.suggester is None else sorted(self._wanted.difference(self.suggester.labels))

    def mark_annotated(self) -> None:
        """Mark all documents that have entities as done, for each annotator."""
        for name, workspace in self._workspaces.items():
            for one in workspace.summaries():
                if one.n_entities and not one.done:
                    workspace.mark(one.id, done=True, by=name)

    def done_documents(self, annotator: str) -> list[Document]:
        workspace = self.workspace(annotator)
        return [workspace.open(one.id).stored.document for one in workspace.summaries() if one.done]

    def train(self, annotator: str) -> None:
        self.trainer.start(self.done_documents(annotator), self.suggester)

    def summaries(self, annotator: str, order: Order) -> tuple[list[Summary], float | None]:
        """The list of documents, and the progress of ordering it, from 0 to 1; None if the order is complete."""
        workspace = self.workspace(annotator)
        found = workspace.summaries()
        if order == "given":
            return found, None
        ranks, progress = self._ordering.ranks(workspace, found, self.suggester)
        return sorted(found, key=lambda one: ranks.get(one.id, len(ranks))), progress

    def _current_model(self) -> Suggester | None:
        """The model of the settings, or the one that was trained here from it."""
        file, given = self._side / CURRENT_MODEL, self._settings.model
        if file.is_file():
            record = json.loads(file.read_text("utf-8"))
            trained = self._side / record["model"]  # relative, as folders are moved
            if given in (None, record["given"]) and trained.is_dir():
                return self._load(str(trained))
        return None if given is None else self._load(given)

    def _take_over(self, suggester: Suggester) -> None:
        record = {"model": os.path.relpath(suggester.place, self._side), "given": self._settings.model}
        replace_file(self._side / CURRENT_MODEL, json.dumps(record).encode())
        self.suggester = suggester
        self.add_labels(suggester.labels)


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _workspaces(settings: Settings) -> dict[str, Workspace]:
    if settings.each_in is None:
        shared = Workspace(open_documents(settings.path))
        return dict.fromkeys(settings.annotators, shared)
    return {name: Workspace(open_documents(_own_copy(settings, name))) for name in settings.annotators}


def _own_copy(settings: Settings, annotator: str) -> Path:
    """The annotator's own documents; missing ones are copied from the given folder."""
    assert settings.each_in is not None
    if "/" in annotator or annotator.startswith("."):
        raise DisconerError("This annotator's name cannot be used as a folder name", got=repr(annotator))
    source = open_documents(settings.path)
    own = settings.each_in / (f"{annotator}{settings.path.suffix}" if isinstance(source, JsonlFile) else annotator)
    pairs = [(settings.path, own)]
    if not isinstance(source, JsonlFile):
        names = [f"{id}{suffix}" for id in source.ids() for suffix in (".txt", ".ann")]
        pairs = [(settings.path / name, own / name) for name in names]
    for old, new in pairs:
        if old.is_file() and not new.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(old, new)
    return own


class _Ordering:
    """Computes the order of documents in the background, and again when the model or the set of done ones changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._key: object = None
        self._ranks: dict[str, int] = {}
        self._progress: float | None = None

    def ranks(
        self, workspace: Workspace, found: Sequence[Summary], suggester: Suggester | None
    ) -> tuple[dict[str, int], float | None]:
        """The place of each document so far, and the progress of computing new places; None if complete."""
        done = frozenset(one.id for one in found if one.done)
        key = (id(workspace), suggester, len(found), len(done) // AGAIN)
        with self._lock:
            if key != self._key and self._progress is None:
                self._key, self._progress = key, 0.0
                self._thread = threading.Thread(
                    target=self._work, args=(workspace, found, done, suggester), name="order", daemon=True
                )
                self._thread.start()
            return self._ranks, self._progress

    def _work(
        self, workspace: Workspace, found: Sequence[Summary], done: frozenset[str], suggester: Suggester | None
    ) -> None:
        try:
            documents = list(_readable(workspace, found))
            waiting = [document for document in documents if document.id not in done]
            candidates = None
            if suggester is not None:
                candidates = {}
                for document in suggester.candidates([replace_entities(document) for document in waiting]):
                    candidates[document.id] = document.entities
                    self._progress = len(candidates) / max(len(waiting), 1)
            texts = {document.id: document.text for document in documents}
            order = most_useful_first(texts, candidates, done)
            self._ranks = {id: place for place, id in enumerate(order)}
        finally:
            self._progress = None


def _readable(workspace: Workspace, found: Sequence[Summary]) -> Iterator[Document]:
    """Documents without those that cannot be read (any more), which come last in any order."""
    for one in found:
        if one.n_entities is not None:
            with suppress(DisconerError):
                yield workspace.open(one.id).stored.document


def replace_entities(document: Document) -> Document:
    """The document without its entities and other annotations."""
    return replace(document, entities=(), extras={})
