"""What a .ann file is beside its entities, and the record of it in `extras`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.types import Document

KEY = "brat"  # in `Document.extras`
_BOM = "\ufeff"
_LF, _CRLF = "\n", "\r\n"


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a .ann file and how they are put together.

    lines: as they are in the file or, where that says as much, the id of a T line. The last one is
        empty if the file ends in a line break.
    """

    lines: list[str]
    newline: str = _LF
    bom: bool = False

    @classmethod
    def of_file(cls, content: str) -> Layout:
        body = content.removeprefix(_BOM)
        newline = _CRLF if 0 < body.count(_LF) == body.count(_CRLF) else _LF
        return cls(body.split(newline), newline, bom=len(body) < len(content))

    @classmethod
    def of_document(cls, document: Document) -> Layout:
        """The layout that a document brought along, or that of an empty file."""
        record = document.extras.get(KEY, {"lines": [""]})
        lines = record.get("lines") if isinstance(record, dict) else None
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise BadInput(
                "bad-syntax",
                "The brat extras of this document are not what disconer writes",
                where=Where(document=document.id),
                got=excerpt(record),
                expected='{"lines": ["T1", …, ""]}',
                fix="Remove them, or convert the document again from its brat files.",
            )
        newline = _CRLF if record.get("newline") == _CRLF else _LF
        return cls(lines, newline, bom=record.get("bom") is True)

    def to_file(self) -> str:
        return _BOM * self.bom + self.newline.join(self.lines)

    def to_extras(self, ids: Iterable[str]) -> dict[str, Any]:
        """The extras of a document with entities of these ids; none where the entities say it all."""
        if self == Layout([*ids, ""]):
            return {}
        record: dict[str, Any] = {"lines": self.lines}
        if self.newline != _LF:
            record["newline"] = self.newline
        if self.bom:
            record["bom"] = True
        return {KEY: record}
