"""BioC as it is found: what real files do, and what bad ones get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bioc_samples import as_xml, bioc, put
from disconer import BadInput, Document, Entity, Ledger, read
from disconer.formats import sniff
from disconer.formats.bioc.documents import OTHER_COLLECTIONS
from disconer.formats.bioc.layout import UNKNOWN_FIELDS
from disconer.formats.bioc.xml import OTHER_INFONS, REPEATED_INFONS
from disconer.formats.entities import NAMELESS
from disconer.formats.source import Source
from round_trips import through

both = pytest.mark.parametrize(("name", "format"), [("a.xml", "bioc-xml"), ("a.json", "bioc-json")])


@both
@pytest.mark.parametrize("surface", ["pain arm", "pain ... arm", "pain … arm", "pain  in\narm", ""])
def test_texts_of_discontinuous_annotations_may_be_joined_elided_or_whole(
    tmp_path: Path, name: str, format: str, surface: str
) -> None:
    locations = [{"offset": 3, "length": 4}, {"offset": 11, "length": 3}]
    path = put(tmp_path / name, bioc(annotation={"locations": locations, "text": surface}))
    (document,) = read(path, format)
    assert [entity.text for entity in document.entities] == ["pain arm"]


@both
@pytest.mark.parametrize(
    ("infons", "label", "score"),
    [
        ({"type": "A", "label": "B"}, "A", None),
        ({"label": "B", "score": "0.5"}, "B", 0.5),
        ({"type": "A", "score": "7.25"}, "A", None),
        ({"type": "A", "score": "high"}, "A", None),
        ({"type": "A", "score": "nan"}, "A", None),
    ],
)
def test_label_and_score_of_an_annotation(
    tmp_path: Path, name: str, format: str, infons: dict[str, str], label: str, score: float | None
) -> None:
    (document,) = read(put(tmp_path / name, bioc(annotation={"infons": infons})), format)
    (entity,) = document.entities
    assert (entity.label, entity.score) == (label, score)
    (back,), _ = through([document], name, format)
    assert back == document


def test_what_pubmed_central_and_pubtator_send(tmp_path: Path) -> None:
    whole = bioc(
        relations=[{"id": "R1", "infons": {"role1": {"identifier": "x"}, "score": 1, "n": None}}], pmid=1, authors=[]
    )
    del whole["passages"][0]["annotations"][0]["id"]
    whole["id"] = 12345
    for content in ([{"documents": [whole], "bioctype": "BioCCollection"}], {"PubTator3": [whole]}, [whole], whole):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(content))
        ledger = Ledger()
        (document,) = read(path, None, ledger)
        assert (document.id, [entity.text for entity in document.entities]) == ("12345", ["pain"])
        assert ledger.losses == {UNKNOWN_FIELDS: 2}  # pmid, authors
        back, ledger = through([document], "a.xml", "bioc-xml")
        assert ledger.losses == {OTHER_INFONS: 3}
        assert back[0].extras["bioc"]["relations"][0]["infons"] == {
            "role1": '{"identifier": "x"}',
            "score": "1",
            "n": "",
        }


def test_one_document_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in (bioc(id="1"), 3, bioc(id="2"))))
    assert sniff(Source(path)).name == "bioc-json"
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, None, ledger)] == ["1", "2"]
    assert "line 2" in str(ledger.examples[0])


def test_what_bioc_cannot_say_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        "<collection><document><id>d</id><passage><offset>0</offset><text>pain</text><mood/>"
        '<annotation><infon key="type">A</infon><infon key="n">1</infon><infon key="n">2</infon>'
        '<location offset="0" length="4"/></annotation></passage></document></collection>'
    )
    ledger = Ledger()
    (document,) = read(path, None, ledger)
    assert document.entities[0].id is None
    assert ledger.losses == {UNKNOWN_FIELDS: 1, REPEATED_INFONS: 1, NAMELESS: 1}
    sources = {"1": "a", "2": "a", "3": "b"}
    others = [Document(id, "", extras={"bioc": {"collection": {"source": source}}}) for id, source in sources.items()]
    _, ledger = through(others, "a.xml", "bioc-xml")
    assert ledger.losses == {OTHER_COLLECTIONS: 1}


LOCATED = [
    ("bad-offset", bioc(annotation={"locations": [{"offset": 3, "length": 99}]})),
    ("bad-offset", bioc(annotation={"locations": [{"offset": -3, "length": 4}]})),
    ("bad-offset", bioc(annotation={"locations": [{"offset": 3, "length": -1}]})),
    ("empty-fragment", bioc(annotation={"locations": [{"offset": 3, "length": 0}]})),
    ("text-mismatch", bioc(annotation={"text": "gain"})),
    ("bad-syntax", bioc(annotation={"infons": {}})),
    ("bad-syntax", bioc(annotation={"locations": [{"offset": "x", "length": 4}]})),
    ("bad-syntax", bioc(passage={"offset": "x"})),
    ("bad-syntax", bioc(passage={"offset": ""})),
    ("bad-syntax", bioc(id="")),
    ("bad-offset", bioc(passage={"offset": -1, "annotations": []})),
    ("bad-offset", bioc(passage={"offset": 2**40, "annotations": []})),
    ("bad-offset", bioc(passages=bioc()["passages"] * 2)),
    ("duplicate-id", bioc(id="c")),
    ("duplicate-id", bioc(passage={"annotations": bioc()["passages"][0]["annotations"] * 2})),
]


def check_bad(path: Path, format: str, problem: str) -> None:
    """The file's second of three documents is bad: reading stops with its place, or skips it and counts."""
    with pytest.raises(BadInput) as caught:
        list(read(path, format))
    assert caught.value.problem == problem
    assert str(path) in str(caught.value)
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, format, ledger)][-1] == "e"
    assert ledger.errors == {problem: 1}


@both
@pytest.mark.parametrize(("problem", "bad"), LOCATED)
def test_bad_documents(tmp_path: Path, name: str, format: str, problem: str, bad: dict[str, Any]) -> None:
    check_bad(put(tmp_path / name, bioc(id="c"), bad, bioc(id="e")), format, problem)


@pytest.mark.parametrize(
    "bad",
    [
        3,
        [],
        {"id": "d"} | bioc(passages=3),
        bioc(passages=["x"]),
        bioc(infons=[]),
        bioc(passage={"text": ["x"]}),
        bioc(passage={"annotations": {}}),
        bioc(annotation={"locations": [[0, 4]]}),
        bioc(annotation={"locations": [{"offset": True, "length": 4}]}),
        bioc(annotation={"infons": {"type": 3}}),
        bioc(relations=[{"nodes": [3]}]),
    ],
)
def test_json_of_wrong_types(tmp_path: Path, bad: Any) -> None:
    check_bad(put(tmp_path / "a.json", bioc(id="c"), bad, bioc(id="e")), "bioc-json", "bad-syntax")


@pytest.mark.parametrize(
    "bad",
    [
        "<document><id>d</id><passage><text>pain</text></passage></document>",
        "<document><id>d</id><passage><offset>0</offset><text>pain <i>in</i> arm</text></passage></document>",
        "<document><id>d</id><infon>x</infon></document>",
        "<document><id>d</id><relation><node role='x'/></relation></document>",
        "<document><id>d</id><annotation><location offset='3'/></annotation></document>",
        f"<document><id>d</id><annotation><location offset='{'9' * 5000}' length='4'/></annotation></document>",
        "<document/>",
    ],
)
def test_xml_of_wrong_shape(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"<collection>{as_xml(bioc(id='c'))}\n{bad}{as_xml(bioc(id='e'))}</collection>")
    check_bad(path, "bioc-xml", "bad-syntax")
    with pytest.raises(BadInput, match="line 2"):
        list(read(path, "bioc-xml"))


def test_sentences_that_contradict_their_passage(tmp_path: Path) -> None:
    passage = {"sentences": [{"offset": 3, "text": "pain"}, {"offset": 8, "text": "at"}]}
    check_bad(put(tmp_path / "a.json", bioc(), bioc(passage=passage), bioc(id="e")), "bioc-json", "text-mismatch")


@pytest.mark.parametrize(
    ("problem", "content"),
    [
        ("unsafe-xml", '<!DOCTYPE c [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><collection>&c;</collection>'),
        ("truncated", "<collection><document><id>d</id>"),
        ("bad-syntax", "<collection><document></collection>"),
        ("bad-syntax", "<html><body/></html>"),
        ("bad-syntax", "<collection>" + "<document>" * 300),
    ],
)
def test_bad_xml_files(tmp_path: Path, problem: str, content: str) -> None:
    (tmp_path / "a.xml").write_text(content)
    put(tmp_path / "b.xml", bioc(id="e"))
    with pytest.raises(BadInput, match=r"a\.xml") as caught:
        list(read(tmp_path, "bioc-xml"))
    assert caught.value.problem == problem
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(tmp_path, "bioc-xml", ledger)] == ["e"]
    assert ledger.errors == {problem: 1}


@pytest.mark.parametrize(
    ("problem", "content"),
    [
        ("truncated", json.dumps({"documents": [bioc()]})[:-9]),
        ("bad-syntax", "[" * 100_000),
        ("bad-syntax", "3"),
        ("bad-syntax", '{"documents": 3}'),
        ("bad-syntax", '{"PubTator3": {}}'),
        ("bad-syntax", '{"source": 3, "documents": []}'),
    ],
)
def test_bad_json_files(tmp_path: Path, problem: str, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    put(tmp_path / "b.json", bioc(id="e"))
    with pytest.raises(BadInput, match=r"a\.json") as caught:
        list(read(tmp_path, "bioc-json"))
    assert caught.value.problem == problem
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(tmp_path, "bioc-json", ledger)] == ["e"]
    assert ledger.errors == {problem: 1}


def test_infons_of_other_types_change_no_label_and_no_score(tmp_path: Path) -> None:
    """Extras may be edited, and JSON holds any value: what XML makes a string is no label and no score."""
    entity = Entity("Drug", ((0, 4),), "T1")
    infons = {"type": 5, "note": {"a": [1]}, "score": True, "other": None}
    document = Document("d", "some pain", (entity,), extras={"bioc": {"mentions": {"T1": {"infons": infons}}}})
    for name, format in (("a.json", "bioc-json"), ("a.xml", "bioc-xml")):
        back, ledger = through([document], name, format)
        assert back[0].entities == (entity,)
        assert ledger.losses.total() == (3 if format == "bioc-xml" else 0)
