from __future__ import annotations

from pathlib import Path

import pytest

from corpora.workbooks import LINKS, MAIN, write_parts, write_workbook
from disconer import BadInput, DisconerError
from disconer.corpora.xlsx import MAX_PART, Row, Workbook
from disconer.formats.source import Source

RELS = "xl/_rels/workbook.xml.rels"
PARTS = {
    RELS: '<Relationships><Relationship Id="a" Target="/xl/one.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheet name="One " r:id="a"/></workbook>',
}


def workbook(path: Path) -> Workbook:
    (file,) = Source(path)
    return Workbook(file)


def one_sheet(path: Path, rows: str, **parts: str) -> Workbook:
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    return workbook(write_parts(path / "one.xlsx", {**PARTS, "xl/one.xml": sheet, **parts}))


def test_rows_have_their_cells_by_column_name(tmp_path: Path) -> None:
    sheets = {"Other": [["id"]], "Posts": [["id", " text "], [1, "a < b"], [None, None], [3, " c "]]}
    book = workbook(write_workbook(tmp_path / "book.xlsx", sheets))
    assert list(book.rows("Posts", ("id", "text"))) == [
        Row(2, {"id": "1", "text": "a < b"}),
        Row(3, {}),
        Row(4, {"id": "3", "text": " c "}),
    ]
    assert list(book.rows("Other", ("id",))) == []


def test_strings_inline_in_runs_escaped_and_without_a_reference(tmp_path: Path) -> None:
    rows = (
        '<row><c t="inlineStr"><is><t>id</t></is></c><c t="str"><v>text</v></c></row>'
        '<row><c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c><c t="s"><v>0</v></c><c><v>9</v></c></row>'
    )
    strings = f'<sst xmlns="{MAIN}"><si><r><t>one_x000D_</t></r><rPh><t>no</t></rPh><r><t>two</t></r></si></sst>'
    book = one_sheet(tmp_path, rows, **{"xl/sharedStrings.xml": strings})
    assert list(book.rows("One", ("id",))) == [Row(2, {"id": "ab", "text": "one\rtwo"})]  # the last has no column name


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    book = workbook(write_workbook(tmp_path / "book.xlsx", {"Posts": [["id", "text"]], "Empty": []}))
    with pytest.raises(
        DisconerError, match=r"book\.xlsx: .* no sheet 'Sentences'. Got Posts, Empty\..*original workbook"
    ):
        list(book.rows("Sentences", ()))
    with pytest.raises(DisconerError, match=r"'Posts' has no column 'drug'.*Got id, text, expected id, drug\."):
        list(book.rows("Posts", ("id", "drug")))
    with pytest.raises(DisconerError, match=r"'Empty' has no column 'id'.*Got an empty row"):
        list(book.rows("Empty", ("id",)))


def test_what_is_no_workbook_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.xlsx").write_text("drug_id,sentences\n")
    with pytest.raises(BadInput, match=r"text\.xlsx: This is not an Excel workbook"):
        workbook(tmp_path / "text.xlsx")
    with pytest.raises(BadInput, match=r"cannot be read. Got .*workbook\.xml\.rels"):
        workbook(write_parts(tmp_path / "empty.xlsx", {}))
    book = workbook(write_parts(tmp_path / "lost.xlsx", PARTS))
    with pytest.raises(BadInput, match=r"lost\.xlsx:xl/one\.xml: .* cannot be read"):
        list(book.rows("One", ()))
    with pytest.raises(BadInput, match=r"one\.xml: .* cannot be read. Got list index out of range"):
        list(one_sheet(tmp_path, '<row><c t="s"><v>7</v></c></row>').rows("One", ()))
    with pytest.raises(BadInput, match="declares entities"):
        one_sheet(tmp_path, "", **{"xl/workbook.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'})
    assert MAX_PART == 256 * 2**20
    monkeypatch.setattr("disconer.corpora.xlsx.MAX_PART", 10)
    with pytest.raises(BadInput, match="more than 0 MiB"):
        one_sheet(tmp_path, "")
