"""From inputs to parts, with everything but Ray itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs Ray: pip install 'disconer[ray]'")

from fsspec.implementations.memory import MemoryFileSystem
from typer.testing import CliRunner

from disconer import BadInput, DisconerError, Document, read, write
from disconer.cli import app
from disconer.core.errors import DisconerWarning
from disconer.core.ledger import Ledger
from disconer.predict.local.manifest import Identity
from disconer.predict.ray import stream
from disconer.predict.ray.blocks import Block
from disconer.predict.ray.parts import Encoded, Parts
from disconer.predict.ray.work import Outcome
from disconer.store.checkpoint import save_model
from nn.toy import letter_model
from predict.ray.here import Attempts, N, blocks_here, predicted, some_documents

pytestmark = pytest.mark.usefixtures("all_here")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that finds the words p and k, and p … k."""
    folder = tmp_path_factory.mktemp("model")
    save_model(letter_model(), folder)
    return folder


def plain(source: Path, out: Path, model: Path) -> list[Document]:
    CliRunner().invoke(app, ["predict", str(source), "-o", str(out), "--model", str(model)], catch_exceptions=False)
    return list(read(out))


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_parts_hold_what_a_plain_run_finds(notes: Path, model: Path, tmp_path: Path, to: str) -> None:
    out = tmp_path / "out"
    assert predicted(notes, out, model, to=to) == Outcome(written=N, parts=4)
    assert sorted(path.name for path in out.iterdir() if path.name != ".disconer") == [
        f"part-00000{number}.{to}" for number in range(4)
    ]
    assert list(read(out)) == plain(notes, tmp_path / "plain.jsonl", model)
    assert json.loads((out / ".disconer" / "complete.json").read_text())["documents"] == N


@pytest.mark.parametrize("kind", ["texts", "brat", "parquet", "jsonl.gz", "xml"])
def test_inputs_of_every_kind(model: Path, tmp_path: Path, kind: str) -> None:
    source = tmp_path / ("in" if kind in ("texts", "brat") else f"in.{kind}")
    if kind == "texts":
        source.mkdir()
        for document in some_documents():
            (source / f"{document.id}.txt").write_text(document.text)
    else:
        write(some_documents(), source)
    predicted(source, tmp_path / "out", model)
    assert list(read(tmp_path / "out")) == plain(source, tmp_path / "plain.jsonl", model)


def test_urls_on_both_sides(notes: Path, model: Path, tmp_path: Path) -> None:
    predicted(f"file://{notes}", "memory://test_run/out", model)
    names = [path for path in MemoryFileSystem().find("/test_run/out") if "/." not in path]
    found = b"".join(MemoryFileSystem().cat_file(name) for name in sorted(names))
    (tmp_path / "found.jsonl").write_bytes(found)
    assert list(read(tmp_path / "found.jsonl")) == plain(notes, tmp_path / "plain.jsonl", model)
    assert predicted(f"file://{notes}", "memory://test_run/out", model).parts_before == 4


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_an_id_is_written_once_even_by_two_runs(model: Path, tmp_path: Path, to: str) -> None:
    source = tmp_path / "in"
    source.mkdir()
    lines = [json.dumps({"id": f"d{number}", "text": "p"}) + "\n" for number in (*range(20), 3)]
    (source / "a.jsonl").write_text("".join(lines[:10]))
    (source / "b.jsonl").write_text("".join(lines[10:]))
    with pytest.raises(BadInput, match="document 'd3': Two documents have the same id"):
        predicted(source, tmp_path / "out", model, to=to)
    assert len(list((tmp_path / "out").glob("part-*"))) == 1  # what was finished before that stays
    for _ in range(2):
        ledger = Ledger(skip_bad=True)
        predicted(source, tmp_path / "skipped", model, to=to, ledger=ledger)
        assert [document.id for document in read(tmp_path / "skipped")] == [f"d{number}" for number in range(20)]
        last = sorted((tmp_path / "skipped" / ".disconer").glob("part-*"))[-1]
        last.unlink()
    assert ledger.errors == {"duplicate-id": 1}


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_ids_that_become_alike_stay_distinct_over_blocks_and_runs(model: Path, tmp_path: Path, to: str) -> None:
    given = ["a\ud800", "b\ufffd", "b\ufffd-3", *"xyz", "a\ud801", "a\ufffd", "b\ud800", "a\ufffd-2"]
    with open(tmp_path / "in.jsonl", "w") as stream:
        stream.writelines(json.dumps({"id": id, "text": "p in my " * 12}) + "\n" for id in given)  # three a block
    plain, whole = Ledger(), Ledger()
    write(read(tmp_path / "in.jsonl"), tmp_path / f"plain.{to}", to, plain)
    predicted(tmp_path / "in.jsonl", tmp_path / "out", model, to=to, ledger=whole)
    ids = [document.id for document in read(tmp_path / "out")]
    assert ids == [document.id for document in read(tmp_path / f"plain.{to}")]
    assert (whole.repairs, whole.losses) == (plain.repairs, plain.losses)
    assert bool(plain.repairs) == (to == "parquet")
    (tmp_path / "out" / ".disconer" / "part-000000.json").unlink()
    assert predicted(tmp_path / "in.jsonl", tmp_path / "out", model, to=to).parts == 1
    again = [document.id for document in read(tmp_path / "out")]
    assert len(set(again)) == len(again) == len(given)
    with pytest.raises(BadInput, match="Two documents have the same id"):
        predicted(_one_more(tmp_path, "a\ud801"), tmp_path / "more", model, to=to)


def _one_more(folder: Path, id: str) -> Path:
    source = folder / "in"
    source.mkdir()
    (folder / "in.jsonl").rename(source / "a.jsonl")
    (source / "b.jsonl").write_text(json.dumps({"id": id, "text": "p"}) + "\n")
    return source


def test_bad_input_is_named_or_counted(notes: Path, model: Path, tmp_path: Path) -> None:
    with open(notes, "a") as stream:
        stream.write("{broken\n")
    with pytest.raises(BadInput, match=rf"{notes}, line {N + 1}: This is not JSON"):
        predicted(notes, tmp_path / "out", model)
    ledger = Ledger(skip_bad=True)
    assert predicted(notes, tmp_path / "skipped", model, ledger=ledger).written == N
    assert ledger.errors == {"bad-syntax": 1}
    assert [error.where.line for error in ledger.examples if error.where] == [N + 1]


def test_what_fails_in_an_actor_is_told(notes: Path, model: Path, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def fail(self: object, documents: object) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr("disconer.predict.recognizer.Recognizer.annotate", fail)
    with pytest.raises(DisconerError, match=r"An actor failed. Got RuntimeError: CUDA out of memory.*--actors"):
        predicted(notes, tmp_path / "out", model)
    assert not list((tmp_path / "out").glob("**/part-*"))
    monkeypatch.setattr("disconer.predict.ray.blocks.model_identity", lambda folder: "another")
    with pytest.raises(DisconerError, match="is not the one that this prediction was started with"):
        predicted(notes, tmp_path / "out", model)


def test_documents_on_which_actors_die_are_named(notes: Path, model: Path, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(stream, "stream_blocks", lambda plan, **_: blocks_here(plan, Attempts(deadly=3)))
    with pytest.raises(DisconerError, match=r"died 3 times on the same 4 documents. Got 'd12' to 'd15'"):
        predicted(notes, tmp_path / "out", model)
    assert len(list((tmp_path / "out").glob("part-*"))) == 1


def test_people_hear_that_an_actor_died(notes: Path, model: Path, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(stream, "stream_blocks", lambda plan, **_: blocks_here(plan, Attempts(deadly=3, times=1)))
    with pytest.warns(DisconerWarning, match="An actor died, and another one took over its documents"):
        assert predicted(notes, tmp_path / "out", model).written == N


def test_a_lost_block_is_noticed_before_its_part_counts_as_finished(
    notes: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lossy(plan, **_):  # type: ignore[no-untyped-def]
        yield from (block for block in blocks_here(plan) if block.number != 4)

    monkeypatch.setattr(stream, "stream_blocks", lossy)
    with pytest.raises(DisconerError, match=r"Ray lost a block of the input. Got block 5 too early"):
        predicted(notes, tmp_path / "out", model)
    assert len(list((tmp_path / "out" / ".disconer").glob("part-*.json"))) == 1

    def cut_off(plan, **_):  # type: ignore[no-untyped-def]
        yield from (block for block in blocks_here(plan) if block.number >= 0)

    monkeypatch.setattr(stream, "stream_blocks", cut_off)
    with pytest.raises(DisconerError, match="Ray lost a block of the input"):
        predicted(notes, tmp_path / "out", model)


def test_blocks_travel_whole() -> None:
    error = BadInput("bad-syntax", "This line is not JSON", fix="Look.")
    ledger = Ledger(skip_bad=True)
    ledger.error(error)
    block = Block(
        7, b"content", ["a", "\ud83d"], ledger, ["careful"], 3, {0: "digest"}, error, ("ValueError: x", "where")
    )
    back = Block.from_row(block.to_row())
    assert (str(back.error), back.ledger.errors) == (str(error), {"bad-syntax": 1})
    assert replace(back, ledger=ledger, error=error) == block


def test_a_full_disk_is_reported(tmp_path: Path, small_disk: int) -> None:
    parts = Parts(str(tmp_path), "jsonl", Identity("input", "model", {}))
    parts.open()
    with pytest.raises(DisconerError, match=r"part-000003\.jsonl: This file could not be written: the disk is full"):
        parts.write(3, [Encoded(b"x" * (small_disk + 1), [])], {}, {})
    assert [path.name for path in tmp_path.rglob("*")] == [".disconer"]
