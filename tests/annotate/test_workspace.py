from __future__ import annotations

import json
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest

from annotate.running import KNEES, add_many, folder_of, word_finder
from disconer.annotate.changes import Change
from disconer.annotate.documents import Stored, open_documents
from disconer.annotate.project import Project, Settings
from disconer.annotate.workspace import Conflict, Workspace
from disconer.core.errors import BadInput, DisconerError
from disconer.core.types import Entity
from disconer.formats import read, write

ANN = "T1\tADR 0 4\tPain\r\nR1\tCauses Arg1:T2 Arg2:T1\r\n*\tSame T1 T2\r\nT2\tDrug 37 44\taspirin"
STIFF = Entity("ADR", ((9, 18),), "T3")
RECORD = {
    "id": "a",
    "text": KNEES,
    "entities": [{"label": "Drug", "fragments": [[37, 44]], "sure": True}],
    "meta": {"source": 7},
}


def workspace(path: Path) -> Workspace:
    return Workspace(open_documents(path))


def add(own: Workspace, *entities: Entity, id: str = "a") -> None:
    own.change(id, own.open(id).stored.version, Change(add=entities), by="anna")


def test_only_the_line_of_an_entity_changes(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES, "a.ann": ANN}))
    add(own, STIFF)
    assert (tmp_path / "a.ann").read_bytes().decode() == f"{ANN}\r\nT3\tADR 9 18\tstiffness"
    opened = own.undo("a", own.open("a").stored.version, by="anna")
    assert (tmp_path / "a.ann").read_bytes().decode() == ANN
    assert (opened.can_undo, opened.can_redo) == (False, True)


def test_a_text_without_annotations_gets_its_file_with_the_first(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"deep/a.txt": KNEES, "b.txt": "Well."}))
    assert [(one.id, one.n_entities, one.done) for one in own.summaries()] == [("b", 0, False), ("deep/a", 0, False)]
    assert not (tmp_path / "deep" / "a.ann").exists()
    add(own, STIFF, id="deep/a")
    assert (tmp_path / "deep" / "a.ann").read_text() == "T3\tADR 9 18\tstiffness\n"
    own.mark("b", done=True, by="anna")
    assert (tmp_path / "b.ann").read_bytes() == b""
    assert [one.done for one in workspace(tmp_path).summaries()] == [True, False]


def test_lines_of_other_documents_and_unknown_fields_stay_in_jsonl(tmp_path: Path) -> None:
    other = '{ "id" : "b",  "text": "Well.", "entities": [ ] }'
    path = folder_of(tmp_path, {"notes.jsonl": f"{other}\n{json.dumps(RECORD)}\n"}) / "notes.jsonl"
    own = workspace(path)
    before = path.read_bytes()
    add(own, STIFF)
    first, second, rest = path.read_text().split("\n")
    assert (first, rest) == (other, "")
    changed = json.loads(second)
    assert changed["entities"][0] == RECORD["entities"][0]
    assert changed["entities"][1] == {"id": "T3", "label": "ADR", "fragments": [[9, 18]]}
    assert changed["meta"] == RECORD["meta"]
    own.undo("a", own.open("a").stored.version, by="anna")
    assert path.read_bytes() == before


def test_who_and_when_is_in_a_side_file_that_readers_ignore(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES, "a.ann": ""}))
    add(own, STIFF)
    (step,) = (tmp_path / ".disconer" / "history" / "a.jsonl").read_text().splitlines()
    assert json.loads(step)["by"] == "anna"
    assert json.loads(step)["at"].startswith("20")
    assert open_documents(tmp_path).ids() == ["a"]


def test_a_change_to_another_version_is_refused(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES, "a.ann": ""}))
    seen = own.open("a").stored.version
    (tmp_path / "a.ann").write_text("T1\tADR 0 4\tPain\n")
    with pytest.raises(Conflict) as conflict:
        own.change("a", seen, Change(add=(STIFF,)), by="anna")
    assert [entity.label for entity in conflict.value.stored.document.entities] == ["ADR"]
    assert (tmp_path / "a.ann").read_text() == "T1\tADR 0 4\tPain\n"
    (tmp_path / "a.txt").write_text(f"So: {KNEES}")
    with pytest.raises((Conflict, BadInput)):
        own.change("a", seen, Change(add=(STIFF,)), by="anna")


def test_documents_with_entities_can_be_taken_as_done(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a.txt": KNEES, "a.ann": ANN, "b.txt": KNEES})
    project = Project(Settings(path=tmp_path, all_done=True), word_finder)
    assert [document.id for document in project.done_documents("annotator")] == ["a"]
    assert not (tmp_path / "b.ann").exists()


@pytest.mark.slow
def test_two_processes_do_not_overwrite_each_other(tmp_path: Path) -> None:
    records = "".join(f"{json.dumps({'id': id, 'text': KNEES, 'entities': []})}\n" for id in "ab")
    path = folder_of(tmp_path, {"notes.jsonl": records}) / "notes.jsonl"
    context = get_context("spawn")
    together = context.Barrier(2)
    workers = [context.Process(target=add_many, args=(path, id, together)) for id in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    own = workspace(path)
    assert [len(own.open(id).stored.document.entities) for id in "ab"] == [60, 60]


def test_a_mark_does_not_erase_what_another_process_adds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = workspace(folder_of(tmp_path, {"a.txt": KNEES})), workspace(tmp_path)
    read = own.documents.read

    def add_stubbornly() -> None:
        while True:
            with suppress(Conflict):
                return add(other, STIFF)

    adding = Thread(target=add_stubbornly)

    def read_while_the_other_adds(id: str) -> Stored:
        stored = read(id)
        adding.start()
        adding.join(0.3)
        return stored

    monkeypatch.setattr(own.documents, "read", read_while_the_other_adds)
    own.mark("a", done=True, by="anna")
    adding.join(20)
    assert (tmp_path / "a.ann").read_text() == "T3\tADR 9 18\tstiffness\n"


def test_rejections_are_remembered_and_undone(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES, "a.ann": ANN}))
    version = own.open("a").stored.version
    own.change("a", version, Change(reject=(STIFF.key,)), by="anna", kind="reject")
    assert workspace(tmp_path).open("a").history.rejected == {STIFF.key}
    assert (tmp_path / "a.ann").read_bytes().decode() == ANN
    assert own.undo("a", version, by="anna").history.rejected == set()
    assert own.redo("a", version, by="anna").history.rejected == {STIFF.key}


def test_a_history_survives_a_crash_at_any_byte(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES}))
    add(own, STIFF)
    before = (tmp_path / "a.ann").read_bytes()
    file = tmp_path / ".disconer" / "history" / "a.jsonl"
    size = file.stat().st_size
    add(own, Entity("Drug", ((37, 44),), "T4"))
    whole = file.read_bytes()
    (tmp_path / "a.ann").write_bytes(before)  # the second step was recorded, at least in part, but never written
    for end in range(size, len(whole) + 1, 7):
        file.write_bytes(whole[:end])
        again = workspace(tmp_path)
        assert len(again.open("a").history.undo) == 1
        add(again, Entity("ADR", ((0, 4),), "T5"))
        assert len(workspace(tmp_path).open("a").history.undo) == 2
        again.undo("a", again.open("a").stored.version, by="anna")
        assert (tmp_path / "a.ann").read_bytes() == before


def test_a_mark_after_a_crash_amid_another_is_kept(tmp_path: Path) -> None:
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES, "b.txt": KNEES, "c.txt": KNEES}))
    own.mark("a", done=True, by="anna")
    with open(tmp_path / ".disconer" / "done.jsonl", "ab") as stream:
        stream.write(b'{"id": "b", "do')
    workspace(tmp_path).mark("c", done=True, by="anna")
    assert [one.done for one in workspace(tmp_path).summaries()] == [True, False, True]


def test_a_mark_that_is_seen_is_kept(tmp_path: Path) -> None:
    """Wherever a crash cut off the last one."""
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES, "b.txt": KNEES, "c.txt": KNEES}))
    for id in "ab":
        own.mark(id, done=True, by="anna")
    marks = tmp_path / ".disconer" / "done.jsonl"
    content = marks.read_bytes()
    for size in range(content.index(b"\n") + 1, len(content)):
        marks.write_bytes(content[:size])
        seen = [one.done for one in workspace(tmp_path).summaries()]
        workspace(tmp_path).mark("c", done=True, by="anna")
        assert [one.done for one in workspace(tmp_path).summaries()] == [*seen[:2], True]


def test_marks_of_another_process_are_seen(tmp_path: Path) -> None:
    own, other = workspace(folder_of(tmp_path, {"a.txt": KNEES, "b.txt": KNEES})), workspace(tmp_path)
    assert not own.is_done("a")
    other.mark("a", done=True, by="ben")
    assert own.is_done("a")
    own.mark("b", done=True, by="anna")
    other.mark("a", done=False, by="ben")
    assert [one.done for one in own.summaries()] == [one.done for one in other.summaries()] == [False, True]


@pytest.mark.parametrize("kind", ["brat", "jsonl"])
def test_entities_are_counted_again_only_of_what_changed(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of 10,000 documents is asked for again and again."""
    path = folder_of(tmp_path, {"a.txt": KNEES, "b.txt": KNEES, "a.ann": ANN, "b.ann": ANN})
    if kind == "jsonl":
        path = tmp_path / "notes.jsonl"
        write(read(tmp_path), path)
    own, other = workspace(path), workspace(path)
    assert [one.n_entities for one in own.summaries()] == [2, 2]
    add(other, STIFF, id="a")
    opened: list[str] = []
    read_document = own.documents.read

    def seen(id: str) -> Stored:
        opened.append(id)
        return read_document(id)

    monkeypatch.setattr(own.documents, "read", seen)
    for _ in range(2):
        assert [one.n_entities for one in own.summaries()] == [3, 2]
    assert opened == ["a"]


def test_what_cannot_be_annotated_is_said(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="no texts in this folder"):
        open_documents(folder_of(tmp_path, {"a.md": "x"}))
    with pytest.raises(DisconerError, match="disconer convert"):
        open_documents(folder_of(tmp_path, {"a.xml": "<a/>"}) / "a.xml")
    with pytest.raises(DisconerError, match="Check the path"):
        open_documents(tmp_path / "nowhere")
    own = workspace(folder_of(tmp_path, {"a.txt": KNEES}))
    for id in ("b", "../a", "/etc/passwd"):
        with pytest.raises(DisconerError, match="no such document"):
            own.open(id)
