"""UIMA CAS XMI: one document per file, with its types in a TypeSystem.xml beside.

    <xmi:XMI …><type:NamedEntity xmi:id="3" sofa="1" begin="0" end="4" value="ADR"/> …
    <cas:Sofa xmi:id="1" sofaID="_InitialView" sofaString="…"/><cas:View sofa="1" members="2 3"/></xmi:XMI>

Reading needs no types: which features refer to others is known for the layers that are read.

INCEpTION sends XMI to external recommenders, which return it with predictions (`SentCas`). A prediction is an
annotation of the asked layer with the label in the asked feature, its score in `FEATURE_score`, and the mark
`inception_internal_predicted`. INCEpTION suggests spans, which have no gaps: each fragment of a discontinuous entity is
a suggestion of its own, and `FEATURE_score_explanation` says what it is a part of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Entity, joined_text
from disconer.formats.code_units import CodeUnits
from disconer.formats.format import Format, file_writer, member_reader
from disconer.formats.source import Member
from disconer.formats.uima.layers import Key, note_losses, type_system_xml
from disconer.formats.uima.structures import SOFA, VIEW, Structure, to_document, to_structures
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


PREDICTED = "inception_internal_predicted"
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
_FEATURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHERE = Where("document.xmi")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recommender is to predict.

    explains: whether the layer has a feature for explanations.
    """

    layer: str
    feature: str
    explains: bool

    def __post_init__(self) -> None:
        if not _TYPE.fullmatch(self.layer) or not _FEATURE.fullmatch(self.feature):
            raise BadInput(
                "bad-syntax",
                "This is not a layer and a feature",
                where=Where("metadata"),
                got=excerpt(f"{self.layer} {self.feature}"),
                expected="names such as webanno.custom.Finding and value",
            )


class SentCas:
    """A CAS as XMI, to which predictions are added; everything else stays in it."""

    def __init__(self, xmi: str) -> None:
        self._root = parse_xml(xmi.encode("utf-8", "replace"), str(_WHERE))
        sofas = [one for one in self._root if one.tag == f"{CAS}Sofa" and one.get("sofaString") is not None]
        sofa = next((one for one in sofas if one.get("sofaID") == VIEW), None)
        if sofa is None:
            raise BadInput("bad-syntax", "This CAS has no text", where=_WHERE, expected="a cas:Sofa with a sofaString")
        self.text: str = sofa.get("sofaString") or ""
        self._sofa = sofa.get(ID, "")

    def with_predictions(self, entities: Iterable[Entity], asked: Asked) -> str:
        """The XMI with a prediction for each fragment."""
        numbers = [int(number) for one in self._root if (number := one.get(ID, "")).isascii() and number.isdigit()]
        first = max(numbers, default=0) + 1
        added = [
            self._element(structure, number)
            for number, structure in enumerate(_suggestions(entities, self.text, asked), first)
        ]
        members = " ".join(str(one.get(ID)) for one in added)
        for view in self._root:
            if view.tag == f"{CAS}View" and view.get("sofa") == self._sofa and members:
                view.set("members", f"{view.get('members', '')} {members}".strip())
        return serialised([*added, *self._root]).decode()

    def _element(self, structure: Structure, number: int) -> Element:
        element = to_element(structure)
        element.set(ID, str(number))
        element.set("sofa", self._sofa)
        return element


def _suggestions(entities: Iterable[Entity], text: str, asked: Asked) -> list[Structure]:
    """One per place and label, with the highest score."""
    units = CodeUnits(text)
    found: dict[tuple[int, int, str], Structure] = {}
    for entity in sorted(entities, key=lambda one: -(one.score or 0)):
        for number, (start, end) in enumerate(entity.fragments, 1):
            features = {"begin": units.unit(start), "end": units.unit(end), asked.feature: entity.label}
            structure = Structure(0, asked.layer, {**features, PREDICTED: "true"})
            if entity.score is not None:
                structure.features[f"{asked.feature}_score"] = round(entity.score, 4)
            if asked.explains and len(entity.fragments) > 1:
                whole = joined_text(text, entity.fragments)
                explanation = f"fragment {number} of {len(entity.fragments)}: {whole}"
                structure.features[f"{asked.feature}_score_explanation"] = explanation
            found.setdefault((start, end, entity.label), structure)
    return sorted(found.values(), key=lambda one: (one.features["begin"], one.features["end"]))


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
