"""The page of `disconer annotate` beside a test, over a folder of its own, with a model that finds words of a list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from disconer.annotate.app import LIMITS, create_app
from disconer.annotate.changes import Change
from disconer.annotate.documents import open_documents
from disconer.annotate.project import Project, Settings
from disconer.annotate.suggestions import Suggester
from disconer.annotate.workspace import Workspace
from disconer.core.types import Entity
from disconer.serve.server import bound_socket, make_server
from serve.fakes import Running, WordFinder

KNEES = "Pain and stiffness in my knees after aspirin."


def word_finder(model: str) -> Suggester:
    return Suggester(WordFinder(), "words", model)


def folder_of(path: Path, files: Mapping[str, str]) -> Path:
    """A folder of files, with their line ends as they are given."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content.encode())
    return path


@contextmanager
def annotating(
    path: Path, *, token: str | None = None, load: Callable[[str], Suggester] = word_finder, **settings: Any
) -> Iterator[Running]:
    project = Project(Settings(path=path, **{"annotators": ["anna"], **settings}), load)
    started = threading.Event()
    server = make_server(create_app(project, token=token), LIMITS, on_start=started.set, drain_seconds=0)
    bound = bound_socket("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    assert started.wait(20)
    try:
        yield Running(server, bound.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def add_many(path: Path, id: str, together: Any) -> None:
    """Work of a process of its own: sixty entities, one after another."""
    own = Workspace(open_documents(path))
    together.wait(60)
    for n in range(60):
        entity = Entity("ADR", ((n // 2, n // 2 + 4),))
        own.change(id, own.open(id).stored.version, Change(add=(entity,)), by="anna")
