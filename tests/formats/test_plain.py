from __future__ import annotations

import json
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Document, Ledger, read, write
from disconer.core.errors import DisconerWarning
from disconer.formats import NOT_READ, source


def test_each_text_file_is_a_document_untouched(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\ntwo ".encode())
    (tmp_path / "sub" / "b.txt").write_bytes(b"")
    for name in ("c.md", "d.text", "e"):
        (tmp_path / name).write_text("no text file")
    said = r"not read in .*: 1 \.md, 1 \.text, 1 without a suffix; save texts as plain text \(\.txt\) first"
    with pytest.warns(DisconerWarning, match=said):
        found = list(read(tmp_path))
    assert found == [Document("a", "\ufeffone\r\ntwo "), Document("sub/b", "")]


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


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('[{"id": "d", "text": "pain"}]', r"Got a list, .*\(jq -c '\.\[\]' FILE"),
        ('{\n "id": "d",\n "text": "pain"\n}\n', r"over several lines, .*\(jq -c \. FILE"),
        ('{"id": "d", "text": "pain"}\n', "Got a file of another name"),
    ],
)
def test_documents_that_are_not_lines_are_told_so(tmp_path: Path, text: str, advice: str) -> None:
    """The advice was to write the lines that were meant, or to choose any of all formats."""
    (tmp_path / "notes.json").write_text(text)
    with pytest.raises(DisconerError, match=rf"disconer's own documents.*{advice}"):
        read(tmp_path / "notes.json")


@pytest.mark.parametrize("name", ["notes.jsonl", "notes.bio", "tasks.json"])
def test_a_file_in_utf16_is_named_as_such(tmp_path: Path, name: str) -> None:
    """PowerShell writes UTF-16 by default. The advice was to write the lines that are there."""
    (tmp_path / name).write_text('{"id": "d", "text": "pain"}\n', "utf-16")
    with pytest.raises(DisconerError, match=r"starts like UTF-16\. Expected UTF-8\. Convert it \(iconv -f utf-16"):
        read(tmp_path / name)


@pytest.mark.parametrize("control", ["label", "entities"])
def test_label_studios_short_export_gets_the_advice_to_use_the_long_one(tmp_path: Path, control: str) -> None:
    """It was taken for doccano's or disconer's own, and its spans or its id for wrong."""
    span = {"start": 0, "end": 4, "text": "pain", "labels": ["ADR"]}
    task = {"text": "pain", "id": 1, control: [span], "annotator": 1, "annotation_id": 2, "lead_time": 3.5}
    (tmp_path / "tasks.json").write_text(json.dumps([task]))
    with pytest.raises(DisconerError, match=r"JSON-MIN.* Export the project as JSON instead"):
        read(tmp_path / "tasks.json")


def test_text_is_what_no_other_format_claims(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("about the data")
    (tmp_path / "data.jsonl").write_text('{"id": "d", "text": "pain"}\n')
    assert list(read(tmp_path)) == [Document("d", "pain")]
    (tmp_path / "a.txt").write_text("more")
    with pytest.warns(DisconerWarning, match=r"read as jsonl; files .* left out: a\.txt \(text\)\."):
        assert list(read(tmp_path)) == [Document("d", "pain")]


def test_many_texts_that_are_left_out_are_counted(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:02}.txt").write_text("pain")
    (tmp_path / "found.jsonl").write_text('{"id": "d", "text": "pain"}\n')
    with pytest.warns(
        DisconerWarning, match=r"60 files of other .*: 00\.txt \(text\), 01\.txt \(text\), 02\.txt \(text\), …\."
    ):
        list(read(tmp_path, ledger=(ledger := Ledger())))
    assert ledger.losses == {NOT_READ: 60}


def test_only_texts_that_are_no_part_of_a_brat_folder_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("notes/a.txt", "notes/a.ann", "notes/annotation.conf", "README.txt", "LICENSE", "b.txt"):
        (tmp_path / name).write_text("")
    with pytest.warns(DisconerWarning, match=r"read as brat; files .* left out: b\.txt \(text\)\.") as caught:
        assert [document.id for document in read(tmp_path)] == ["notes/a"]
    assert len(caught) == 1


PUBTATOR = "1234|t|Rash after a drug\n1234|a|A severe rash.\n1234\t0\t4\tRash\tDisease\tD005076\n\n"


@pytest.mark.parametrize("name", ["a.txt", "a.pubtator", "a", "notes/a.txt"])
def test_pubtator_is_no_prose(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / name).write_text(PUBTATOR)
    with pytest.raises(DisconerError, match=r"PubTator's own format.* BioC, which PubTator offers"):
        read(tmp_path / name.partition("/")[0] if "/" in name else tmp_path / name)
    assert [one.text for one in read(tmp_path / name, "text")] == [PUBTATOR]


@pytest.mark.parametrize("text", ["1234|t|a table\n1235|a|of bars\n", "a 1|t|b\n", "12|t|alone\n"])
def test_bars_are_not_yet_pubtator(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert [one.text for one in read(tmp_path / "a.txt")] == [text]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"text": "Severe rash"}\n', "Got objects with text, expected a .jsonl file with lines"),
        ("a.jsonl", '{"note_id": "7", "text": "a", "entities": []}\n', "Got objects with entities, note_id, text"),
        ("a.json", '[{"note_id": "7", "text": "a"}]', 'have no "id"'),
        ("a.json", '[{"id": "7", "text": "a"}]', "Got a list, expected a .jsonl file with lines"),
        (
            "a.jsonl",
            '{"id": 7, "text": "a"}\n',
            "line 1: The field 'id' is of the wrong type. Got 7, expected a JSON string",
        ),
        ("a.jsonl", '{"id": ["7"], "text": "a"}\n', 'Got ["7"], expected'),
    ],
)
def test_json_without_an_id_is_not_taken_for_text(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DisconerError) as caught:
        list(read(tmp_path / name))
    assert said in str(caught.value)
    assert "--from text" not in str(caught.value)


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
