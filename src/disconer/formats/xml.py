"""Untrusted XML: parsed without entities and network access; errors have line numbers.

Entity declarations are refused (a few of them expand to gigabytes, others read files), so they never
reach a parser that would expand them. A DOCTYPE that only names its DTD is allowed and not followed.

For writers: documents without the characters that XML cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document

MAX_DEPTH = 200  # no annotation format nests deeper; such a file is meant to exhaust the stack
_CHUNK = 2**16
_CUT_SHORT = {  # expat's message for input that ends too early
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}


def parse_xml(data: bytes, origin: str) -> Element:
    """The root element of a whole XML file; `BadInput` names `origin` and the line."""
    parser = _Parser(origin, None)
    parser.feed(data, final=True)
    ((_, root),) = parser.finished
    return root


def iter_xml(stream: BinaryIO, tags: Collection[str], origin: str) -> Iterator[tuple[int, Element]]:
    """Elements with one of `tags`, each with the line that it starts on, as soon as it ends.

    Only the outermost of nested ones are given, and nothing else is kept, so a file may be larger than memory.
    """
    parser = _Parser(origin, frozenset(tags))
    while True:
        chunk = stream.read(_CHUNK)
        parser.feed(chunk, final=not chunk)
        yield from parser.finished
        parser.finished.clear()
        if not chunk:
            return


class _Parser:
    """Builds the elements with the wanted tags (None: the root) and puts them into `finished`."""

    def __init__(self, origin: str, wanted: frozenset[str] | None) -> None:
        self.finished: list[tuple[int, Element]] = []
        self._origin, self._wanted = origin, wanted
        self._builder: TreeBuilder | None = None
        self._depth = self._built_from_depth = self._built_from_line = 0
        self._n_fed = 0
        self._expat = expat.ParserCreate(namespace_separator="}")
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._data
        self._expat.EntityDeclHandler = self._refuse_entity
        self._expat.SkippedEntityHandler = self._unknown_entity

    def feed(self, data: bytes, *, final: bool) -> None:
        try:
            self._expat.Parse(data, final)
        except expat.ExpatError as error:
            raise self._broken(error, data) from error
        except (LookupError, ValueError) as error:  # the encoding that the file declares
            raise self._problem("bad-encoding", "The encoding of this file is not supported", str(error)) from error
        self._n_fed += len(data)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._problem("bad-syntax", "Elements are nested too deeply", f"more than {MAX_DEPTH} levels")
        if self._builder is None and (self._wanted is None or tag in self._wanted):
            self._builder = TreeBuilder()
            self._built_from_depth, self._built_from_line = self._depth, self._expat.CurrentLineNumber
        if self._builder is not None:
            if "}" in "".join(attributes):
                attributes = {_qualified(name): value for name, value in attributes.items()}
            self._builder.start(_qualified(tag), attributes)

    def _end(self, tag: str) -> None:
        if self._builder is not None:
            self._builder.end(_qualified(tag))
            if self._depth == self._built_from_depth:
                self.finished.append((self._built_from_line, self._builder.close()))
                self._builder = None
        self._depth -= 1

    def _data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)

    def _refuse_entity(self, name: str, *_: Any) -> None:
        raise self._problem(
            "unsafe-xml",
            "This XML declares entities, which could expand without limit or read other files",
            f"<!ENTITY {name} …>",
            "Write the characters themselves, or numeric references such as &#233;.",
        )

    def _unknown_entity(self, name: str, *_: Any) -> None:
        raise self._problem(
            "bad-syntax",
            "This XML uses an entity that only its DTD may define, and DTDs are not followed",
            f"&{name};",
            "Write the character itself, or a numeric reference such as &#233;.",
        )

    def _broken(self, error: expat.ExpatError, data: bytes) -> BadInput:
        message = expat.ErrorString(error.code)
        if error.code in _CUT_SHORT:
            return self._problem(
                "truncated", "This XML ends too early", message, "Check that it was copied completely."
            )
        at = self._expat.ErrorByteIndex
        byte = data[at - self._n_fed : at - self._n_fed + 1]
        if message == expat.errors.XML_ERROR_INVALID_TOKEN and byte >= b"\x80":
            return self._problem(
                "bad-encoding",
                "This is not in the encoding that the XML declares (UTF-8 if none)",
                f"byte 0x{byte.hex()} at byte {at}",
                "Convert the file, or correct its declaration.",
            )
        return self._problem("bad-syntax", "This is not well-formed XML", f"{message} at column {error.offset + 1}")

    def _problem(self, problem: str, what: str, got: str, fix: str | None = None) -> BadInput:
        return BadInput(problem, what, where=Where(self._origin, self._expat.CurrentLineNumber), got=got, fix=fix)


def _qualified(name: str) -> str:
    """ElementTree's `{namespace}name` from expat's `namespace}name`."""
    return f"{{{name}" if "}" in name else name


_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
REPLACED = "characters not allowed in XML, replaced"


def without_unwritable(document: Document, extras: Collection[str], ledger: Ledger) -> Document:
    """The document with each such character replaced and counted as lost, so that every offset stays right.

    extras: the names of those that are written, at least in part.
    """
    parts = [
        document.id,
        document.text,
        [[entity.label, entity.id] for entity in document.entities],
        {name: value for name, value in document.extras.items() if name in extras},
    ]
    (id, text, names, own_extras), n_replaced = _cleaned(parts)
    if not n_replaced:
        return document
    ledger.lost(REPLACED, n_replaced)
    entities = [
        replace(entity, label=label, id=name) for entity, (label, name) in zip(document.entities, names, strict=True)
    ]
    return document.replace(id=id, text=text, entities=tuple(entities), extras={**document.extras, **own_extras})


def _cleaned(value: Any) -> tuple[Any, int]:
    """A JSON value with all its strings cleaned, and the number of characters replaced."""
    if isinstance(value, str):
        return _UNWRITABLE.subn(_stand_in, value)
    if isinstance(value, list):
        pairs = [_cleaned(item) for item in value]
        return [item for item, _ in pairs], sum(n for _, n in pairs)
    if isinstance(value, dict):
        keys, n_keys = _cleaned(list(value))
        values, n_values = _cleaned(list(value.values()))
        return dict(zip(keys, values, strict=True)), n_keys + n_values
    return value, 0


def _stand_in(match: re.Match[str]) -> str:
    """A space for what counts as whitespace (a form feed), so that no fragment changes; else U+FFFD."""
    return " " if match.group().isspace() else "\ufffd"
