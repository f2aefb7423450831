"""Rows of an Excel workbook (.xlsx): a zip of XML files, of which only the texts in the cells are read."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from posixpath import join, normpath
from typing import BinaryIO, NamedTuple, cast
from xml.etree.ElementTree import Element

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.formats.source import Member
from disconer.formats.xml import iter_xml, parse_xml

MAX_PART = 256 * 2**20  # bytes of a part, unpacked: more than any corpus has; a limit against zip bombs

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")  # how Excel writes characters that XML does not allow


class Row(NamedTuple):
    """A row under the first one: its number, as Excel shows it, and the cells that are not empty, by column name."""

    number: int
    cells: Mapping[str, str]


class Workbook:
    """The sheets of a workbook, by name."""

    def __init__(self, file: Member) -> None:
        self.origin = file.origin
        content = file.read()
        try:
            self._archive = zipfile.ZipFile(BytesIO(content))
        except zipfile.BadZipFile as error:
            raise BadInput(
                "unreadable-file",
                "This is not an Excel workbook (.xlsx)",
                where=Where(self.origin),
                got=str(error),
                fix="Download it again; save an .xls or .csv file as .xlsx.",
            ) from error
        targets = {link.get("Id"): link.get("Target", "") for link in self._root("xl/_rels/workbook.xml.rels")}
        self._sheets = {
            sheet.get("name", "").strip(): _part(targets.get(sheet.get(f"{{{_LINKS}}}id"), ""))
            for sheet in self._root("xl/workbook.xml").iter(f"{{{_MAIN}}}sheet")
        }
        self._strings = self._shared_strings()

    def rows(self, sheet: str, columns: Sequence[str]) -> Iterator[Row]:
        """The rows of a sheet whose first row names its columns, `columns` among them."""
        if sheet not in self._sheets:
            raise DisconerError(
                f"The workbook has no sheet {sheet!r}",
                where=Where(self.origin),
                got=", ".join(self._sheets) or "no sheets",
                fix="Check that it is the original workbook.",
            )
        names: dict[int, str] | None = None
        for number, cells in self._cells(self._sheets[sheet]):
            if names is None:
                names = {column: text.strip() for column, text in cells.items()}
                self._check_columns(sheet, names, columns)
            else:
                yield Row(number, {names[column]: text for column, text in cells.items() if column in names})
        if names is None:
            self._check_columns(sheet, {}, columns)

    def _check_columns(self, sheet: str, names: Mapping[int, str], columns: Sequence[str]) -> None:
        missing = [column for column in columns if column not in names.values()]
        if missing:
            raise DisconerError(
                f"The sheet {sheet!r} has no column {missing[0]!r} in its first row",
                where=Where(self.origin),
                got=", ".join(names.values()) or "an empty row",
                expected=", ".join(columns),
                fix="Check that it is the original workbook.",
            )

    def _cells(self, part: str) -> Iterator[tuple[int, dict[int, str]]]:
        """Of each row its number and its cells that are not empty, by column from 0."""
        with self._open(part) as stream:
            number = 0
            for _, row in iter_xml(stream, {f"{_MAIN}}}row"}, f"{self.origin}:{part}"):
                number = int(row.get("r", number + 1))
                cells: dict[int, str] = {}
                column = -1
                for cell in row:  # rows and cells may omit their position: then they follow the previous one
                    column = _column(cell.get("r", "")) if cell.get("r") else column + 1
                    if text := self._text(cell):
                        cells[column] = text
                yield number, cells

    def _text(self, cell: Element) -> str:
        if cell.get("t") == "inlineStr":
            return _string(cell)
        value = cell.findtext(f"{{{_MAIN}}}v", "")
        return self._strings[int(value)] if cell.get("t") == "s" else _unescaped(value)

    def _shared_strings(self) -> list[str]:
        part = "xl/sharedStrings.xml"
        if part not in self._archive.namelist():
            return []
        with self._open(part) as stream:
            return [_string(item) for _, item in iter_xml(stream, {f"{_MAIN}}}si"}, f"{self.origin}:{part}")]

    def _root(self, part: str) -> Element:
        with self._open(part) as stream:
            return parse_xml(stream.read(), f"{self.origin}:{part}")

    @contextmanager
    def _open(self, part: str) -> Iterator[BinaryIO]:
        """A file in the zip. Errors name the file."""
        try:
            if self._archive.getinfo(part).file_size > MAX_PART:
                raise ValueError(f"more than {MAX_PART // 2**20} MiB")
            with self._archive.open(part) as stream:
                yield cast(BinaryIO, stream)
        except (zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, RuntimeError) as error:
            raise BadInput(
                "unreadable-file",
                "This Excel workbook (.xlsx) cannot be read",
                where=Where(f"{self.origin}:{part}"),
                got=str(error) or type(error).__name__,
                fix="Download it again.",
            ) from error


def _part(target: str) -> str:
    """The name in the zip of what a link of the workbook points to.

    >>> _part("worksheets/sheet1.xml"), _part("/xl/worksheets/sheet1.xml")
    ('xl/worksheets/sheet1.xml', 'xl/worksheets/sheet1.xml')
    """
    return normpath(join("/xl", target)).lstrip("/")


def _column(reference: str) -> int:
    """The column of a cell, from 0.

    >>> _column("A1"), _column("Z9"), _column("AA10")
    (0, 25, 26)
    """
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _string(item: Element) -> str:
    """The text of a string, which may be in several runs, without the reading aids of Asian scripts."""
    runs = [item, *item.iter(f"{{{_MAIN}}}r"), *item.iter(f"{{{_MAIN}}}is")]
    return _unescaped("".join(text.text or "" for run in runs for text in run.findall(f"{{{_MAIN}}}t")))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
