"""What an earlier run left: parts that are kept, and those of something else, which are refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install 'disconer[ray]'")

from disconer import DisconerError, write
from disconer.core.ledger import Ledger
from disconer.predict.ray import cluster
from disconer.predict.ray.work import Outcome
from predict.ray.here import N, predicted, some_documents

pytestmark = pytest.mark.usefixtures("all_here")


def test_finished_parts_are_passed_over(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    predicted(notes, out, model)
    whole = {path.name: path.read_bytes() for path in out.glob("part-*")}
    (out / ".disconer" / "part-000002.json").unlink()  # as if it had been broken off there
    (out / "part-000002.jsonl").write_text("half of i")
    (out / ".disconer" / "part-000002.jsonl.unfinished").write_text("half of i")
    finished = os.stat(out / "part-000001.jsonl").st_mtime_ns
    assert predicted(notes, out, model) == Outcome(written=8, parts=1, written_before=N - 8, parts_before=3)
    assert {path.name: path.read_bytes() for path in out.glob("part-*")} == whole
    assert os.stat(out / "part-000001.jsonl").st_mtime_ns == finished
    assert not list((out / ".disconer").glob("*.unfinished"))
    assert predicted(notes, out, model, force=True) == Outcome(written=N, parts=4)


def test_nothing_is_started_when_nothing_is_left(
    notes: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicted(notes, tmp_path / "out", model)
    monkeypatch.setattr(cluster, "joined", lambda *_: pytest.fail("Ray was started"))
    assert predicted(notes, tmp_path / "out", model) == Outcome(written_before=N, parts_before=4)
    assert (tmp_path / "out" / ".disconer" / "complete.json").exists()


def test_another_model_setting_input_or_format_is_refused(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    predicted(notes, out, model)
    with pytest.raises(
        DisconerError, match=r"outputs with threshold not given; asked for threshold 0\.5\. Choose another folder"
    ):
        predicted(notes, out, model, threshold=0.5)
    with pytest.raises(DisconerError, match="outputs with to jsonl; asked for to parquet"):
        predicted(notes, out, model, to="parquet")
    with open(notes, "a") as stream:
        stream.write(json.dumps({"id": "one more", "text": "p"}) + "\n")
    with pytest.raises(DisconerError, match=r"outputs with input [0-9a-f]+; asked for input"):
        predicted(notes, out, model)
    assert predicted(notes, out, model, force=True).written == N + 1


@pytest.mark.parametrize("kind", ["texts", "jsonl", "xml"])
@pytest.mark.parametrize("complete", [True, False])
def test_another_text_of_the_same_size_is_noticed(model: Path, tmp_path: Path, kind: str, complete: bool) -> None:
    source = tmp_path / ("in" if kind == "texts" else f"in.{kind}")
    given = [document.replace(text=f"{document.text} {document.id}") for document in some_documents()]
    if kind == "texts":
        source.mkdir()
        for document in given:
            (source / f"{document.id}.txt").write_text(document.text)
    else:
        write(given, source)
    out = tmp_path / "out"
    predicted(source, out, model)
    if not complete:
        (out / ".disconer" / "part-000002.json").unlink()
    changed = source / "d13.txt" if kind == "texts" else source
    text = changed.read_text()
    changed.write_text(text.replace("k d13", "p d13"))
    with pytest.raises(DisconerError, match=r"part-000001: .* same names and sizes of files, but with another content"):
        predicted(source, out, model)
    changed.write_text(text)
    assert predicted(source, out, model).parts_before == (4 if complete else 3)


def test_a_text_that_could_not_be_read_is_found_once_it_can(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(9):  # the last is a part by itself, with which no document comes
        (source / f"d{number}.txt").write_bytes(b"p \xff" if number == 8 else b"p k")
    skipping = Ledger(skip_bad=True), Ledger(skip_bad=True), Ledger(skip_bad=True)
    assert predicted(source, tmp_path / "out", model, ledger=skipping[0]).written == 8
    assert predicted(source, tmp_path / "out", model, ledger=skipping[1]) == Outcome(written_before=8, parts_before=1)
    (source / "d8.txt").write_bytes(b"p k")
    assert predicted(source, tmp_path / "out", model, ledger=skipping[2]).written == 1
    assert [ledger.errors.total() for ledger in skipping] == [1, 1, 0]


def test_a_changed_part_and_foreign_files_are_refused(notes: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    predicted(notes, out, model)
    (out / "part-000001.jsonl").write_text("")
    with pytest.raises(DisconerError, match=rf"{out}/part-000001.jsonl: This part was changed or removed"):
        predicted(notes, out, model)
    with pytest.raises(DisconerError, match=r"holds other files, which would be read as parts. Got in.jsonl"):
        predicted(notes, tmp_path, model)
    others = tmp_path / "others"
    others.mkdir()
    for name in ("part-000000.parquet", ".keep"):  # files of somebody else, though named as ours
        (others / name).write_text("theirs")
        with pytest.raises(DisconerError, match=r"Got part-000000.parquet"):
            predicted(notes, others, model, force=True)
    (others / "part-000000.parquet").unlink()
    predicted(notes, others, model, force=True)
    assert (others / ".keep").read_text() == "theirs"
    with pytest.raises(DisconerError, match="The output folder is an existing file"):
        predicted(notes, notes, model)
