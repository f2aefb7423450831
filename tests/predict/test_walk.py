"""By what a later run knows an input again."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer import Ledger
from disconer.formats.source import Source
from disconer.predict.inputs import WHOLE, Reread, Share, Unit, placed_documents, units
from disconer.predict.walk import Walk, joined_content
from predict.stand_in import FORMATS, inputs, small_blocks

N = 25


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)


def walked(found: list[Unit], share: Share) -> Walk:
    walk = Walk()
    for _ in placed_documents(found, Ledger(), share, walk):
        pass
    return walk


@pytest.mark.parametrize("format", FORMATS)
def test_a_shard_knows_all_of_its_own_again(tmp_path: Path, format: str) -> None:
    found = inputs(tmp_path / "in", format, N)
    for share in WHOLE.split(3):
        first, again = walked(found, share), walked(found, Reread(share.number, share.of))
        assert (again.n_records, again.digest, again.content) == (first.n_records, first.digest, first.content)
        assert not list(placed_documents(found, Ledger(), Reread(share.number, share.of)))
        smaller = [walked(found, one).content for one in share.split(4)]
        assert joined_content(smaller) == first.content


def test_other_ids_and_sentences_are_another_input(tmp_path: Path) -> None:
    found = inputs(tmp_path / "in", "bioc-xml", N)
    before = walked(found, WHOLE).digest
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text().replace("<id>d0013<", "<id>d9913<"))
    assert walked(list(units(Source(path))), WHOLE).digest != before


def test_a_file_is_read_once(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("pain")
    source = Walk().read(Source(tmp_path))
    for path in tmp_path.iterdir():
        path.unlink()
    assert [member.text() for member in source] == ["pain", "pain"]


def test_what_cannot_be_read_is_left_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("pain")
    (tmp_path / "b.txt.gz").write_text("not compressed")
    found = list(units(Source(tmp_path), "text"))
    ledger = Ledger(skip_bad=True)
    assert [document.id for _, document in placed_documents(found, ledger)] == ["a"]
    assert ledger.errors == {"unreadable-file": 1}
