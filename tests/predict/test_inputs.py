from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import BadInput, DisconerError, Ledger
from disconer.formats.source import Source
from disconer.predict.inputs import WHOLE, Share, placed_documents, units, units_by_block
from disconer.predict.walk import Cutter, Walk
from predict.stand_in import FORMATS, documents, inputs, small_blocks


@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 3000))
def test_every_block_has_one_share(n: int, jobs: int, block: int) -> None:
    whole = [Share(number, n) for number in range(1, n + 1)]
    (owner,) = [share for share in whole if share.has(block)]
    assert [share for one in whole for share in one.split(jobs) if share.has(block)] == [
        share for share in owner.split(jobs) if share.has(block)
    ]
    assert sum(share.has(block) for share in owner.split(jobs)) == 1


@given(st.lists(st.integers(0, 300_000), min_size=1, max_size=3000))
def test_blocks_are_cut_by_count_and_size(sizes: list[int]) -> None:
    cutter = Cutter()
    blocks = [cutter.place(size) for size in sizes]
    assert blocks == sorted(blocks)
    assert set(blocks) == set(range(blocks[-1] + 1))
    for block in set(blocks):
        own = [size for size, placed in zip(sizes, blocks, strict=True) if placed == block]
        assert len(own) <= 1024
        assert sum(own[:-1]) < 200_000


def test_as_people_write_them() -> None:
    assert Share.parse("3/16") == Share(3, 16)
    assert str(Share(3, 16)) == "3/16"
    assert Share(3, 16).file_name == "part-03-of-16"
    assert Share(7, 1200).file_name == "part-0007-of-1200"
    for wrong in ("0/3", "4/3", "3", "a/b", "1/0", "-1/3"):
        with pytest.raises(DisconerError, match="K from 1 to N"):
            Share.parse(wrong)


@pytest.mark.parametrize("format", FORMATS)
def test_shares_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    small_blocks(monkeypatch)

    @given(st.integers(0, 25), st.integers(1, 9))
    def shared(n_documents: int, n: int) -> None:
        with TemporaryDirectory(dir=tmp_path) as folder:
            if n_documents == 0 and format.startswith("folder"):
                return
            found = inputs(Path(folder) / "in", format, n_documents)
            whole = list(placed_documents(found, Ledger()))
            assert [document for _, document in whole] == documents(n_documents)
            walks = [Walk() for _ in range(n)]
            parts = [
                list(placed_documents(found, Ledger(), Share(number, n), walk)) for number, walk in enumerate(walks, 1)
            ]
            assert sorted((one for part in parts for one in part), key=lambda placed: placed[1].id) == whole
            assert all(block % n == number for number, part in enumerate(parts) for block, _ in part)
            assert len({(walk.n_records, walk.digest) for walk in walks}) == 1

    shared()


def test_a_file_for_each_file_is_never_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    found = inputs(tmp_path / "in", "folder of jsonl", 25)
    shared = [unit for number in (1, 2) for block in units_by_block(found, Share(number, 2)) for unit in block]
    assert sorted(unit.name for unit in shared) == [unit.name for unit in found]
    assert all(list(units_by_block(found, Share(number, 2))) for number in (1, 2))


def test_what_others_have_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    path = tmp_path / "in.jsonl"
    inputs(tmp_path / "in", "jsonl", 12)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], "", "{broken", *lines[6:]]))
    found = list(units(Source(path)))
    assert [document.id for _, document in placed_documents(found, Ledger(), Share(1, 2))] == [
        document.id for block, document in placed_documents(found, Ledger(skip_bad=True)) if block % 2 == 0
    ]
    with pytest.raises(BadInput, match="line 7"):
        list(placed_documents(found, Ledger(), Share(2, 2)))


@pytest.mark.parametrize(("format", "end"), [("jsonl", ""), ("bioc-xml", "</collection>")])
def test_errors_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, end: str) -> None:
    small_blocks(monkeypatch)
    inputs(tmp_path / "in", format, 20)
    path = next(tmp_path.iterdir())
    text = path.read_text().removesuffix("\n").removesuffix(end)
    again = text[text.rindex("<document>") :] if end else '\n{"id": 7}\n'  # an id twice, or a line without a text
    path.write_text(text + again + end)
    found = list(units(Source(path), format))
    total = Ledger(skip_bad=True)
    for share in WHOLE.split(3):
        list(placed_documents(found, total, share))
    assert total.errors.total() == 1
