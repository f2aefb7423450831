"""Up to EDITS random edits, then kill -9 at a random moment: files are whole, and nothing is older than what was saved.

DISCONER_CRASHES=50 DISCONER_EDITS=100 pytest tests/annotate/test_crashes.py is the whole campaign.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from annotate.running import KNEES, folder_of
from disconer.annotate.documents import Documents, open_documents
from disconer.annotate.workspace import Workspace
from serve.fakes import Running

pytestmark = pytest.mark.slow

CRASHES, EDITS = int(os.environ.get("DISCONER_CRASHES", "3")), int(os.environ.get("DISCONER_EDITS", "100"))
OTHERS = "T1\tADR 0 4\tPain\nR1\tCauses Arg1:T2 Arg2:T1\nT2\tDrug 37 44\taspirin\nA1\tNegated T1\n#1\tNote T2\tsure\n"
LABELS = ("ADR", "Drug", "Finding")


@contextmanager
def process(path: Path) -> Iterator[tuple[subprocess.Popen[str], Running]]:
    """The command itself; it is killed at the end, if it was not before."""
    command = [sys.executable, "-m", "disconer", "annotate", str(path), "--port", "0", "--annotator", "anna"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    try:
        line = next(line for line in started.stderr if "http://" in line)
        port = int(line.split("http://127.0.0.1:")[1].split()[0])
        yield started, Running(None, port)  # type: ignore[arg-type]
    finally:
        started.kill()
        started.wait()


class Editor(threading.Thread):
    """Makes random edits until the server is gone, and remembers the content of each document after the last answer."""

    def __init__(self, server: Running, documents: Documents, chance: random.Random) -> None:
        super().__init__()
        self.server, self.documents, self.chance = server, documents, chance
        self.saved = {id: documents.read(id).content for id in documents.ids()}
        self.n_saved = 0
        self.busy: str | None = None  # the document of a request that was not answered

    def run(self) -> None:
        try:
            while True:
                self.edit(self.chance.choice(list(self.saved)))
        except (OSError, HTTPException):  # killed
            return

    def edit(self, id: str) -> None:
        state = self.server.ask("GET", f"/v1/document?id={id}")[2]
        path, body = self.request(state)
        self.busy = id
        status, _, answer = self.server.ask("POST", path, {"id": id, "version": state["version"], **body})
        assert status in (200, 422), answer
        self.saved[id] = self.documents.read(id).content
        self.busy = None
        self.n_saved += 1

    def request(self, state: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        chance, entities = self.chance, [{k: v for k, v in one.items() if k != "note"} for one in state["entities"]]
        new = {"label": chance.choice(LABELS), "fragments": self.fragments(len(state["text"]))}
        made = new | {"id": f"T{state['next_number']}"}
        kind = chance.choice(["make", "make", "change", "remove", "note", "reject", "undo", "undo", "redo", "done"])
        if kind in ("undo", "redo"):
            return f"/v1/{kind}", {}
        if kind == "done":
            return "/v1/done", {"done": chance.random() < 0.5}
        if kind == "reject":
            return "/v1/change", {"reject": [new], "kind": "reject"}
        if kind == "make" or not entities:
            return "/v1/change", {"add": [made]}
        one = chance.choice(entities)
        if kind == "note":
            return "/v1/change", {"notes": {one["id"]: f"note {chance.random()}"}}
        return "/v1/change", {"remove": [one], "add": [one | new] if kind == "change" else []}

    def fragments(self, length: int) -> list[tuple[int, int]]:
        places = sorted(self.chance.sample(range(length), k=2 * self.chance.randint(1, 3)))
        return list(zip(places[::2], places[1::2], strict=True))


def crash(path: Path, chance: random.Random) -> int:
    """One round; returns how many edits were saved before the crash."""
    documents = open_documents(path)
    with process(path) as (server_process, server):
        editor = Editor(server, documents, chance)
        wanted, moment = chance.randint(0, EDITS), chance.uniform(0, 0.03)
        editor.start()
        while editor.n_saved < wanted and editor.is_alive():
            time.sleep(0.001)
        time.sleep(moment)
        os.kill(server_process.pid, signal.SIGKILL)
        editor.join(30)
    check(path, editor)
    return editor.n_saved


def check(path: Path, editor: Editor) -> None:
    again = Workspace(open_documents(path))
    for id, content in editor.saved.items():
        opened = again.open(id)  # whole and readable, its history, too
        if opened.stored.content == content:
            continue
        assert id == editor.busy, f"{id} is not what was saved last"
        step = opened.history.undoable(opened.stored.version) or opened.history.redoable(opened.stored.version)
        assert step is not None, f"{id} was changed by an unknown step"
        before = {step.splice.inverse.apply(opened.stored.content)} if opened.can_undo else set()
        if redo := opened.history.redoable(opened.stored.version):
            before.add(redo.splice.apply(opened.stored.content))
        assert content in before, f"{id} is more than one step from what was saved last"
    assert all(one.n_entities is not None for one in again.summaries())


@pytest.mark.parametrize("kind", ["brat", "jsonl"])
def test_nothing_is_lost_or_damaged(tmp_path: Path, kind: str) -> None:
    texts = {"a": KNEES, "b": f"{KNEES}\r\n{KNEES}", "c": "Well, and no pain at all today."}
    path = folder_of(tmp_path / "notes", {f"{id}.txt": text for id, text in texts.items()} | {"a.ann": OTHERS})
    if kind == "jsonl":
        records = [{"id": id, "text": text, "entities": []} for id, text in texts.items()]
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        path = folder_of(tmp_path, {"notes.jsonl": lines}) / "notes.jsonl"
    chance = random.Random(kind)
    n_saved = [crash(path, chance) for _ in range(CRASHES)]
    assert sum(n_saved) > EDITS / 10 * CRASHES
    print(f"{kind}: {CRASHES} crashes, {sum(n_saved)} saved edits")
