"""UIMA CAS XMI: one document per file, with its types in a TypeSystem.xml beside.

    <xmi:XMI …><type:NamedEntity xmi:id="3" sofa="1" begin="0" end="4" value="ADR"/> …
    <cas:Sofa xmi:id="1" sofaID="_InitialView" sofaString="…"/><cas:View sofa="1" members="2 3"/></xmi:XMI>

Reading needs no types: which features refer to others is known for the layers that are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.format import Format, file_writer, member_reader
from disconer.formats.source import Member
from disconer.formats.uima.layers import Key, note_losses
from disconer.formats.uima.structures import SOFA, VIEW, Structure, to_document, to_structures
from disconer.formats.uima.types import type_system_xml
from disconer.formats.xml import parse_xml, without_unwritable

TYPE_SYSTEM = "TypeSystem.xml"
SUFFIXES = (".xmi",)
XMI = "http://www.omg.org/XMI"
ID = f"{{{XMI}}}id"
CAS = "{http:///uima/cas.ecore}"
_PREFIXES = {XMI: "xmi", CAS[1:-1]: "cas", "http:///uima/tcas.ecore": "tcas"}
_LINE_BREAKS = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_PLAIN = {"begin", "end", "value", "label", "type", "identifier", "sofaNum", "sofaString", "sofaID", "mimeType"}


def content(document: Document, ledger: Ledger) -> bytes:
    """The XMI of a document."""
    note_losses(document, ledger)
    document = without_unwritable(document, (), ledger)
    structures = list(to_structures(document))
    elements = [Element(f"{CAS}NULL", {ID: "0"}), *map(to_element, structures)]
    sofa = {ID: str(SOFA), "sofaNum": "1", "sofaID": VIEW, "mimeType": "text", "sofaString": document.text}
    members = " ".join(str(one.number) for one in structures if one.is_annotation)
    elements += [Element(f"{CAS}Sofa", sofa), Element(f"{CAS}View", {"sofa": str(SOFA), "members": members})]
    return serialised(elements)


def to_element(structure: Structure) -> Element:
    """The element of a structure."""
    references = {name: " ".join(map(str, numbers)) for name, numbers in structure.references.items()}
    if structure.is_annotation:
        references = {"sofa": str(SOFA)} | references
    features = {name: str(value) for name, value in structure.features.items()}
    return Element(_tag(structure.type), {ID: str(structure.number)} | references | features)


def _tag(type: str) -> str:
    package, _, name = type.rpartition(".")
    return f"{{http:///{package.replace('.', '/')}.ecore}}{name}"


def serialised(elements: Iterable[Element]) -> bytes:
    """A whole XMI file of these elements; UIMA wants the prefix of `xmi` to be just that."""
    prefixes = dict(_PREFIXES)
    body = "\n".join([_markup(element, prefixes) for element in elements])
    names = " ".join(f"xmlns:{prefix}={quoteattr(uri)}" for uri, prefix in prefixes.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI {names} xmi:version="2.0">\n{body}\n</xmi:XMI>\n'.encode()


def _markup(element: Element, prefixes: dict[str, str]) -> str:
    name = _prefixed(element.tag, prefixes)
    attributes = "".join(
        f" {_prefixed(key, prefixes)}={quoteattr(value, _LINE_BREAKS)}" for key, value in element.attrib.items()
    )
    text = element.text or ""
    inner = "".join(_markup(child, prefixes) for child in element) or (escape(text) if text.strip() else "")
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


def _prefixed(name: str, prefixes: dict[str, str]) -> str:
    if not name.startswith("{"):
        return name
    uri, _, local = name[1:].partition("}")
    return f"{prefixes.setdefault(uri, f'ns{len(prefixes)}')}:{local}"


def structures_of(root: Element, where: Where) -> dict[Key, Structure]:
    """The structures of an XMI file, by number. Features that are elements have a value each."""
    if root.tag != f"{{{XMI}}}XMI":
        raise BadInput("bad-syntax", "This XML is not XMI", where=where, got=f"<{root.tag}>", expected="<xmi:XMI>")
    structures: dict[Key, Structure] = {}
    for element in root:
        number = element.get(ID)
        if number is not None:
            structures[number] = Structure(number, _type(element.tag), *_features(element))
    return structures


def _type(tag: str) -> str:
    uri, _, name = tag.removeprefix("{").partition("}")
    package = uri.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return f"{package}.{name}"


def _features(element: Element) -> tuple[dict[str, str], dict[str, list[Key]]]:
    """The features that are values, and those that may be references: numbers, where these are not known as values."""
    values = {name: value for name, value in element.attrib.items() if name != ID}
    nested: dict[str, list[str]] = {}
    for child in element:
        nested.setdefault(child.tag, []).append(child.text or "")
    values |= {name: " ".join(texts) for name, texts in nested.items()}
    references: dict[str, list[Key]] = {}
    for name, value in values.items():
        numbers: list[Key] = [number for number in value.split() if number.isascii() and number.isdigit()]
        if numbers and len(numbers) == len(value.split()) and name not in _PLAIN:
            references[name] = numbers
    return {name: value for name, value in values.items() if name not in references}, references


def read_xmi(data: bytes, id: str, where: Where, ledger: Ledger) -> Document:
    """The document of an XMI file."""
    return to_document(id, structures_of(parse_xml(data, where.path or ""), where), where, ledger)


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    where = Where(member.origin)
    yield read_xmi(member.read(), member.stem, where, ledger)


def _sniff(name: str, head: bytes) -> bool:
    return b"http://www.omg.org/XMI" in head and b":XMI" in head


FORMAT = Format(
    name="cas-xmi",
    about="UIMA CAS XMI of INCEpTION, one document per file; fragments are linked spans",
    holds="all entities, sentences, tokens",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
    write=file_writer(".xmi", content, "CAS XMI", {TYPE_SYSTEM: type_system_xml()}),
    writes_folder=True,
)
