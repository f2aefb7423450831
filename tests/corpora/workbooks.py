"""Small Excel workbooks for tests, written by hand: a zip with the least that Excel's files have."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

Cells = Sequence[str | int | None]


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Cells]]) -> Path:
    """Texts are shared strings, numbers numbers; None is an empty cell."""
    texts = sorted({cell for rows in sheets.values() for row in rows for cell in row if isinstance(cell, str)})
    names = [f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1)]
    links = [f'<Relationship Id="rId{n}" Target="worksheets/sheet{n}.xml"/>' for n in range(1, len(sheets) + 1)]
    strings = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in texts)
    parts = {
        "workbook": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{"".join(names)}</sheets></workbook>',
        "_rels/workbook": f"<Relationships>{''.join(links)}</Relationships>",
        "sharedStrings": f'<sst xmlns="{MAIN}">{strings}</sst>',
    }
    for n, rows in enumerate(sheets.values(), 1):
        body = "".join(f'<row r="{r}">{_cells(row, r, texts)}</row>' for r, row in enumerate(rows, 1))
        parts[f"worksheets/sheet{n}"] = f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
    return write_parts(path, {f"xl/{part}.xml{'.rels' if '_rels' in part else ''}": xml for part, xml in parts.items()})


def write_parts(path: Path, parts: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, xml in parts.items():
            archive.writestr(name, xml)
    return path


def _cells(row: Cells, number: int, texts: Sequence[str]) -> str:
    found = []
    for column, cell in enumerate(row):
        place = f"{chr(ord('A') + column)}{number}"
        if isinstance(cell, str):
            found.append(f'<c r="{place}" t="s"><v>{texts.index(cell)}</v></c>')
        elif cell is not None:
            found.append(f'<c r="{place}"><v>{cell}</v></c>')
    return "".join(found)
