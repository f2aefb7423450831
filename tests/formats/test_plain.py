from __future__ import annotations

from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Document, Ledger, read, write
from disconer.formats import source


def test_each_text_file_is_a_document_untouched(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\ntwo ".encode())
    (tmp_path / "sub" / "b.txt").write_bytes(b"")
    (tmp_path / "c.md").write_text("no text file")
    assert list(read(tmp_path)) == [Document("a", "\ufeffone\r\ntwo "), Document("sub/b", "")]


def test_any_file_is_text_if_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("pain")
    assert list(read(tmp_path / "note", "text")) == [Document("note", "pain")]
    with pytest.raises(DisconerError, match="not recognised"):
        read(tmp_path / "note")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("note.pdf", "Save texts of other programs as plain text"),
        ("notes.csv", 'a .jsonl file with lines {"id": …, "text": …}'),
        ("note.md", "If it is plain text, add --from text. Else choose the format with --from: jsonl"),
    ],
)
def test_what_is_not_recognised_gets_advice_that_helps(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / name).write_text("some pain")
    with pytest.raises(DisconerError) as caught:
        read(tmp_path / name)
    assert advice in str(caught.value)


def test_text_is_what_no_other_format_claims(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("about the data")
    (tmp_path / "data.jsonl").write_text('{"id": "d", "text": "pain"}\n')
    assert list(read(tmp_path)) == [Document("d", "pain")]


def test_bad_texts_are_skipped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_LINE", 1000)
    (tmp_path / "a.txt").write_bytes(b"\xff")
    (tmp_path / "b.txt").write_bytes(b"short\n" + b"x" * 1001)
    (tmp_path / "c.txt").write_bytes(b"pain\n" * 1000)
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(tmp_path, "text", ledger)] == ["c"]
    assert ledger.errors == {"bad-encoding": 1, "line-too-long": 1}
    with pytest.raises(BadInput, match=r"b\.txt, line 2"):
        list(read(tmp_path / "b.txt", "text"))


def test_text_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="can only be read, not written"):
        write([Document("d", "pain")], tmp_path / "out", "text")
