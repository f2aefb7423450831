"""UIMA CAS as XMI and JSON, and WebAnno TSV: the formats of INCEpTION."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from disconer import BadInput, DisconerError, Document, Entity, Ledger, read, write
from disconer.formats import all_formats
from disconer.formats.uima import tsv
from disconer.formats.uima.layers import IDS, LOOSE, OTHER_FEATURES, OTHER_LAYERS, SCORES
from disconer.formats.uima.structures import RELATIONS
from disconer.formats.uima.tsv_reading import FILLED
from disconer.formats.xml import REPLACED, without_unwritable
from disconer.text import segment
from round_trips import through
from strategies import documents, tokenised_documents

GOLDEN = Path(__file__).parent / "golden" / "uima"
SUFFIXES = {"cas-xmi": ".xmi", "cas-json": ".json", "webanno-tsv": ".tsv"}
every_format = pytest.mark.parametrize("format", SUFFIXES)


def without_ids(document: Document) -> Document:
    return document.replace(entities=tuple(Entity(one.label, one.fragments) for one in document.entities))


def counted(document: Document) -> dict[str, int]:
    counts = {IDS: len(document.entities), SCORES: sum(one.score is not None for one in document.entities)}
    return {name: times for name, times in counts.items() if times}


@pytest.mark.parametrize("format", ["cas-xmi", "cas-json"])
@given(document=documents())
def test_cas_round_trip_keeps_text_and_entities(document: Document, format: str) -> None:
    clean = without_unwritable(document, (), Ledger()) if format == "cas-xmi" else document
    (back,), ledger = through([document], "folder", format)
    assert back == without_ids(clean)
    assert {name: times for name, times in ledger.losses.items() if name != REPLACED} == counted(document)


@given(document=documents())
def test_tsv_round_trip_keeps_text_and_entities_up_to_whitespace(document: Document) -> None:
    (back,), ledger = through([document], "folder", "webanno-tsv")
    leading = len(document.text) - len(document.text.lstrip())
    assert back.text[leading:] == document.text[leading:]
    assert len(back.text) == len(document.text)

    def words(document: Document) -> Counter[Any]:
        return Counter((one.label, tuple(part.strip() for part in parts(document, one))) for one in document.entities)

    def parts(document: Document, entity: Entity) -> list[str]:
        return [document.text[start:end] for start, end in entity.fragments]

    if not ledger.losses[tsv.TRIMMED]:
        assert Counter(one.key for one in back.entities) == Counter(one.key for one in document.entities)
    assert words(back) == words(document)
    own = {tsv.TRIMMED, tsv.LEADING}
    assert {name: times for name, times in ledger.losses.items() if name not in own} == counted(document)


@every_format
@given(document=tokenised_documents())
def test_sentences_and_tokens_come_back(document: Document, format: str) -> None:
    (back,), ledger = through([document], "folder", format)
    assert back.text == document.text
    assert back.sentences == document.sentences
    assert Counter(one.key for one in back.entities) == Counter(one.key for one in document.entities)
    assert ledger.losses == counted(document)


@every_format
def test_odd_texts_and_labels(format: str) -> None:
    entities = (Entity("A_b|[1]->c;*\\", ((0, 1), (3, 4))), Entity("_", ((0, 1),)), Entity("*", ((3, 6),)))
    text = "a\\\tb😀\\n <&>\"'\r\n\u2028é"
    (back, empty), ledger = through([Document("a/b", text, entities), Document("e", "")], "folder", format)
    assert back.text == text
    assert {one.key for one in back.entities} == {one.key for one in entities}
    assert (empty.text, empty.entities) == ("", ())
    assert not ledger.losses


@every_format
def test_a_folder_is_written_never_a_file(tmp_path: Path, format: str) -> None:
    with pytest.raises(DisconerError, match="one document per file and is written as a folder"):
        write([Document("d", "x")], tmp_path / f"a{SUFFIXES[format]}", format)
    write([Document("../d", "x")], tmp_path / "out", format, ledger := Ledger(skip_bad=True))
    assert ledger.errors == {"unsafe-path": 1}


EXPECTED = {
    ("Symptom", "Pain 😀 in arms"),
    ("7", "😀"),
    ("Symptom", "Pain legs"),
    ("Grade", "Mild"),
    ("Place", "muscle cut"),
}


@pytest.mark.parametrize("name", ["inception.xmi", "inception.tsv"])
def test_golden_files_read_as_expected(name: str) -> None:
    ledger = Ledger()
    (document,) = read(GOLDEN / name, None, ledger)
    assert document.id == "inception"
    assert document.text == "Pain 😀 in arms and legs.\nMild muscle cut."
    assert {(one.label, one.text) for one in document.entities} == EXPECTED
    assert [len(sentence.tokens) for sentence in document.sentences] == [7, 4]
    other_layers = 2 if name == "inception.xmi" else 1  # part of speech, and the document's metadata
    assert ledger.losses == {OTHER_LAYERS: other_layers, OTHER_FEATURES: 1, LOOSE: 1, RELATIONS: 1}
    assert ledger.repairs["fragments split at whitespace"] == 1  # the chain has no gap
    assert ledger.repairs[FILLED] == (name == "inception.tsv")


@pytest.mark.parametrize("name", ["inception.xmi", "inception.tsv"])
def test_a_file_is_recognised_by_its_own_format_only(name: str) -> None:
    head = (GOLDEN / name).read_bytes()
    telling = [one.name for one in all_formats() if one.name != "text" and one.sniff(name, head)]
    assert telling == [{".xmi": "cas-xmi", ".tsv": "webanno-tsv"}[Path(name).suffix]]


DOCUMENT = segment(Document("d", "Pain in arms and legs", (Entity("A", ((0, 4), (17, 21))), Entity("B", ((8, 12),)))))


def test_tsv_is_written_as_webanno_writes_it(tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "out", "webanno-tsv")
    assert (tmp_path / "out" / "d.tsv").read_text("utf-8") == (GOLDEN / "written.tsv").read_text("utf-8")


def test_xmi_is_written_as_uima_writes_it(tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "out", "cas-xmi")
    for name, golden in (("d.xmi", "written.xmi"), ("TypeSystem.xml", "TypeSystem.xml")):
        assert (tmp_path / "out" / name).read_text("utf-8") == (GOLDEN / golden).read_text("utf-8")


def test_json_is_written_as_uima_writes_it(tmp_path: Path) -> None:
    write([DOCUMENT.replace(sentences=None)], tmp_path / "out", "cas-json")
    cas = json.loads((tmp_path / "out" / "d.json").read_text("utf-8"))
    ner = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
    link = "webanno.custom.DiscontinuousFragmentsLink"
    assert cas["%FEATURE_STRUCTURES"][2:] == [
        {"%ID": 6, "%TYPE": link, "role": "fragment", "@target": 4},
        {"%ID": 7, "%TYPE": f"{link}[]", "%ELEMENTS": [6]},
        {
            "%ID": 3, "%TYPE": "webanno.custom.Discontinuous", "@sofa": 1, "@fragments": 7,
            "begin": 0, "end": 4, "value": "A",
        },
        {"%ID": 4, "%TYPE": "webanno.custom.Fragment", "@sofa": 1, "begin": 17, "end": 21},
        {"%ID": 5, "%TYPE": ner, "@sofa": 1, "begin": 8, "end": 12, "value": "B"},
    ]  # fmt: skip
    assert cas["%VIEWS"] == {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3, 4, 5]}}


def test_older_json_with_structures_by_number(tmp_path: Path) -> None:
    write([DOCUMENT], tmp_path / "out", "cas-json")
    path = tmp_path / "out" / "d.json"
    cas = json.loads(path.read_text("utf-8"))
    by_number = {str(one.pop("%ID")): one for one in cas["%FEATURE_STRUCTURES"]}
    path.write_text(json.dumps(cas | {"%FEATURE_STRUCTURES": by_number}))
    assert list(read(path)) == [DOCUMENT]


@pytest.mark.parametrize("format", ["cas-xmi", "cas-json"])
def test_cassis_reads_what_is_written_and_writes_what_is_read(tmp_path: Path, format: str) -> None:
    cassis = pytest.importorskip("cassis")
    emoji = DOCUMENT.replace(
        text=DOCUMENT.text.replace(" in", " 😀x"),
        entities=(Entity("😀 & <", ((0, 4), (8, 12))), Entity("B", ((5, 6),))),
    )
    write([emoji], tmp_path / "out", format)
    path = tmp_path / "out" / f"d{SUFFIXES[format]}"
    if format == "cas-xmi":
        types = cassis.load_typesystem((tmp_path / "out" / "TypeSystem.xml").open("rb"))
        cas = cassis.load_cas_from_xmi(path.open("rb"), types)
    else:
        cas = cassis.load_cas_from_json(path.open("rb"))
    (gap,) = cas.select("webanno.custom.Discontinuous")
    fragments = [link.target.get_covered_text() for link in gap.fragments.elements]
    assert (gap.get_covered_text(), gap.get("value"), fragments) == ("Pain", "😀 & <", ["arms"])
    (named,) = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    assert (named.get_covered_text(), named.get("value")) == ("😀", "B")
    again = tmp_path / "again" / path.name
    again.parent.mkdir()
    cas.to_xmi(again) if format == "cas-xmi" else cas.to_json(again)
    assert list(read(again)) == [emoji]


@pytest.mark.parametrize(
    ("format", "content", "problem", "message"),
    [
        ("cas-xmi", "<a/>", "bad-syntax", "This XML is not XMI"),
        ("cas-xmi", '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI">', "truncated", "ends too early"),
        ("cas-xmi", '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI"/>', "bad-syntax", "This CAS has no text"),
        ("cas-json", '{"%FEATURE_STRUCTURES": []}', "bad-syntax", "This CAS has no text"),
        ("cas-json", '{"%FEATURE_STRUCTURES": [3]}', "bad-syntax", "This is not a record"),
        ("webanno-tsv", "#FORMAT=x\n", "bad-syntax", "This is not WebAnno TSV 3"),
        ("webanno-tsv", "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.B|v\n#Text=x\n1-1\t0-1\tx\n", "bad-syntax", "1 columns"),
        ("webanno-tsv", "#FORMAT=WebAnno TSV 3.3\n#Text=x y\n1-1\t0-1\tz\n", "text-mismatch", "differs from the token"),
        ("webanno-tsv", "#FORMAT=WebAnno TSV 3.3\n#Text=x\n1-1\t9999999-10000000\tx\n", "bad-offset", "far away"),
        ("webanno-tsv", "#FORMAT=WebAnno TSV 3.3\n#Text=xy\n1-1\t1-2\ty\n1-2\t0-1\tx\n", "bad-offset", "out of order"),
    ],
)
def test_bad_input(tmp_path: Path, format: str, content: str, problem: str, message: str) -> None:
    path = tmp_path / f"a{SUFFIXES[format]}"
    path.write_text(content)
    with pytest.raises(BadInput, match=message):
        list(read(path, format))
    ledger = Ledger(skip_bad=True)
    assert list(read(path, format, ledger)) == []
    assert ledger.errors == {problem: 1}


def test_an_annotation_past_the_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.xmi"
    path.write_text(
        (GOLDEN / "inception.xmi").read_text("utf-8").replace('end="15" value="Symptom"', 'end="99" value="A"')
    )
    with pytest.raises(BadInput, match="ends past the end of the text"):
        list(read(path))
    ledger = Ledger(skip_bad=True)
    (document,) = read(path, None, ledger)
    assert len(document.entities) == len(EXPECTED) - 1
    assert ledger.errors == {"bad-offset": 1}


def test_lone_surrogates_in_tsv_are_replaced_and_counted() -> None:
    (back,), ledger = through([Document("d", "a\ud83db", (Entity("A", ((0, 2),)),))], "folder", "webanno-tsv")
    assert back.text == "a\ufffdb"
    assert ledger.losses == {tsv.REPLACED: 1}
