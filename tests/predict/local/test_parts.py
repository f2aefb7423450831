from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Ledger, read, write
from disconer.formats import format_named
from disconer.formats.source import Source
from disconer.predict.files import annotated
from disconer.predict.inputs import WHOLE, Share, Unit, units
from disconer.predict.local.manifest import Identity, Manifest, find_parts, manifest_path, part_path
from disconer.predict.local.parts import Part, is_current, join_parts, write_joined, write_part
from predict.stand_in import FORMATS, PainFinder, documents, inputs, small_blocks

N = 3
IDENTITY = Identity("input", "model", {"threshold": 0.0})


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)


def make(found: list[Unit], share: Share, folder: Path, identity: Identity = IDENTITY) -> Part:
    part = write_part(part_path(folder, share), share, found, PainFinder(), Ledger())
    Manifest(part, identity).save()
    return part


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = inputs(tmp_path / "in", "jsonl", 30)
    for share in WHOLE.split(N):
        make(found, share, tmp_path / "parts")
    return tmp_path / "parts"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", ["jsonl", "brat", "bioc-xml", "w2ner"])
def test_joined_parts_are_what_one_process_writes(tmp_path: Path, format: str, target: str) -> None:
    found = inputs(tmp_path / "in", format, 30)
    write(annotated(found, PainFinder(), Ledger()), tmp_path / "one", target)
    for share in WHOLE.split(N):
        make(found, share, tmp_path / "parts")
    parts = find_parts([tmp_path / "parts"])
    write_joined(parts, tmp_path / "joined", format_named(target), Ledger())
    assert contents(tmp_path / "joined") == contents(tmp_path / "one")


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_shares_of_shares(tmp_path: Path) -> None:
    found = inputs(tmp_path / "in", "jsonl", 50)
    for share in WHOLE.split(2):
        own = [make(found, smaller, tmp_path / "spool") for smaller in share.split(3)]
        joined = join_parts(own, part_path(tmp_path / "parts", share), share, Ledger())
        alone = make(found, share, tmp_path / "directly")
        assert replace(joined, path=alone.path) == alone
        assert joined.path.read_bytes() == alone.path.read_bytes()
        Manifest(joined, IDENTITY).save()
    write_joined(find_parts([tmp_path / "parts"]), tmp_path / "out.jsonl", format_named("jsonl"), Ledger())
    assert [document.id for document in read(tmp_path / "out.jsonl")] == [document.id for document in documents(50)]


@pytest.mark.parametrize("format", ["jsonl", "folder of texts", "folder of jsonl", "bioc-xml", "folder of bioc-xml"])
def test_parts_of_another_text_of_the_same_size_are_not_current(tmp_path: Path, format: str) -> None:
    found = inputs(tmp_path / "in", format, 30)
    parts = []
    for share in WHOLE.split(2):
        own = [make(found, smaller, tmp_path / "spool") for smaller in share.split(3)]
        parts.append(join_parts(own, part_path(tmp_path / "parts", share), share, Ledger()))
    assert [is_current(part, found, skip_bad=False) for part in parts] == [True, True]
    (changed,) = [unit.source for unit in found for member in unit.source if b"pain 13" in member.read()]
    (path,) = [Path(member.origin) for member in changed]
    path.write_text(path.read_text().replace("pain 13", "pain 31"))
    current = [is_current(part, found, skip_bad=False) for part in parts]
    others_are_read = format not in ("folder of texts", "folder of bioc-xml")
    assert current == [False, False] if others_are_read else sorted(current) == [False, True]


def test_parts_may_lie_in_several_folders(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for path in folder.glob("part-02*"):
        path.rename(tmp_path / "other" / path.name)
    with pytest.raises(DisconerError, match=r"1 of 3 parts are missing: 2/3\. Predict them: --shard 2/3"):
        find_parts([folder])
    assert [part.share.number for part in find_parts([folder, tmp_path / "other"])] == [1, 2, 3]
    with pytest.raises(DisconerError, match="Duplicate parts: 1/3, 3/3"):
        find_parts([folder, folder, tmp_path / "other"])


def resave(folder: Path, change: Callable[[Manifest], Manifest]) -> None:
    change(Manifest.load(manifest_path(folder, Share(2, N)))).save()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: replace(m, identity=Identity("x", "model", {"threshold": 0.0})), "same input .names and sizes"),
        (lambda m: replace(m, identity=Identity("input", "x", {"threshold": 0.0})), "by the same model"),
        (lambda m: replace(m, identity=Identity("input", "model", {"threshold": 0.5})), "'threshold': 0.5"),
        (lambda m: replace(m, part=replace(m.part, digest="x")), "same input .content"),
    ],
)
def test_parts_that_do_not_belong_together(folder: Path, change: Callable[[Manifest], Manifest], message: str) -> None:
    resave(folder, change)
    with pytest.raises(DisconerError, match=message) as raised:
        find_parts([folder])
    assert "part-02-of-03.jsonl differ from the others" in str(raised.value)


def test_parts_of_another_cut(folder: Path, tmp_path: Path) -> None:
    make(inputs(tmp_path / "in2", "jsonl", 30), Share(1, 2), folder)
    with pytest.raises(DisconerError, match=r"cut into the same number of shards: part-01-of-02\.jsonl differ"):
        find_parts([folder])


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"ADR", b"ADX", 1))


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"{}\n")


@pytest.mark.parametrize("damage", [cut, change, lengthen])
def test_damaged_parts(folder: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    damage(part_path(folder, Share(2, N)))
    with pytest.raises(DisconerError, match=r"part-02-of-03\.jsonl: This part was changed or not copied completely"):
        write_joined(find_parts([folder]), tmp_path / "out.jsonl", format_named("jsonl"), Ledger())
    assert not (tmp_path / "out.jsonl").exists()


def test_what_is_not_there_or_unreadable(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="There are no complete parts here"):
        find_parts([tmp_path])
    part_path(folder, Share(1, N)).unlink()
    with pytest.raises(DisconerError, match=r"part-01-of-03\.jsonl: the manifest exists, but the part file is missing"):
        find_parts([folder])
    manifest_path(folder, Share(1, N)).write_text(json.dumps({"format": 1}))
    with pytest.raises(DisconerError, match="of an earlier version of disconer, which did not record the content"):
        find_parts([folder])
    manifest_path(folder, Share(1, N)).write_text(json.dumps({"format": 2}))
    with pytest.raises(DisconerError, match="not the manifest of a part"):
        find_parts([folder])


def test_the_same_id_in_two_shares(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    inputs(tmp_path / "in", "jsonl", 20)
    path.write_text(path.read_text().replace('"d0018"', '"d0001"'))
    parts = [make(list(units(Source(path))), share, tmp_path) for share in WHOLE.split(N)]
    with pytest.raises(BadInput, match="document 'd0001': Two documents have the same id"):
        write_joined(parts, tmp_path / "out.jsonl", format_named("jsonl"), Ledger())
    ledger = Ledger(skip_bad=True)
    write_joined(parts, tmp_path / "out.jsonl", format_named("jsonl"), ledger)
    assert [document.id for document in read(tmp_path / "out.jsonl")] == [
        document.id for document in documents(20) if document.id != "d0018"
    ]
    assert ledger.errors == {"duplicate-id": 1}
