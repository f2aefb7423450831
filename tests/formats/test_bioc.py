from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.formats.extras import SENTENCES
from disconer.formats.xml import REPLACED, without_unwritable
from round_trips import through
from strategies import documents, tokenised_documents

GOLDEN = Path(__file__).parent / "golden"
FILES = [("a.xml", "bioc-xml"), ("a.json", "bioc-json")]
both = pytest.mark.parametrize(("name", "format"), FILES)


@given(document=documents())
def test_json_gives_back_the_same_document(document: Document) -> None:
    back, ledger = through([document], "a.json.gz", "bioc-json")
    assert back == [document]
    assert not ledger.losses


@given(document=documents())
def test_xml_gives_back_the_same_document_but_for_characters_that_it_cannot_hold(document: Document) -> None:
    n_replaced = sum((ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" for c in document.text)
    back, ledger = through([document], "a.xml.gz", "bioc-xml")
    assert ledger.losses == ({REPLACED: n_replaced} if n_replaced else {})
    assert back == [without_unwritable(document, ["bioc"], Ledger())]
    if not n_replaced:
        assert back == [document]


@both
@given(document=tokenised_documents())
def test_sentences_are_counted_as_lost(document: Document, name: str, format: str) -> None:
    back, ledger = through([document], name, format)
    assert back == [document.replace(sentences=None)]
    assert ledger.losses == {SENTENCES: len(document.sentences or ())}


infons = st.dictionaries(st.sampled_from(["identifier", "note", "x y"]), st.text("aé<&\r\n\"'", max_size=4), max_size=2)


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    """A BioC document in JSON: passages with or without sentences, annotations and relations anywhere."""
    document: dict[str, Any] = {"id": "d", "infons": draw(infons), "passages": []}
    holders, offset = [document], 0
    for _ in range(draw(st.integers(0, 3))):
        offset += draw(st.integers(0, 2))
        passage: dict[str, Any] = {"offset": offset, "infons": draw(infons)}
        texts = draw(st.lists(st.sampled_from(["", "No pain.", "é😀 x"]), min_size=1, max_size=2))
        if draw(st.booleans()):
            passage["text"] = texts[0]
        else:
            passage["sentences"] = [{"text": text, "infons": draw(infons)} for text in texts]
        for part in passage.get("sentences", [passage]):
            offset += draw(st.integers(0, 1)) if part is not passage else 0
            part["offset"] = offset
            offset += len(part["text"])
            holders.append(part)
        document["passages"].append(passage)
        holders.append(passage)
    for number in range(draw(st.integers(0, 4)) if offset else 0):
        ends = sorted(draw(st.lists(st.integers(0, offset), min_size=2, max_size=4, unique=True)))
        located = draw(st.booleans())
        pairs = list(zip(ends[::2], ends[1::2], strict=False)) if located else []
        annotation = {
            "id": f"T{number}",
            "infons": draw(infons) | {"type": "A"},
            "locations": [{"offset": start, "length": end - start} for start, end in pairs],
        }
        draw(st.sampled_from(holders)).setdefault("annotations", []).append(annotation)
        relation = {"id": f"R{number}", "infons": draw(infons), "nodes": [{"refid": f"T{number}", "role": "x"}]}
        draw(st.sampled_from(holders)).setdefault("relations", []).append(relation)
    return document


@given(layout=layouts())
def test_passages_infons_and_relations_survive_every_way_round(layout: dict[str, Any], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("bioc") / "a.json"
    path.write_text(json.dumps({"source": "s", "documents": [layout]}))
    source = list(read(path, "bioc-json", Ledger(skip_bad=True)))  # fragments of nothing but spaces are skipped
    way = source
    for name, format in (("a.jsonl", "jsonl"), ("b.xml", "bioc-xml"), ("c.jsonl", "jsonl"), ("d.json", "bioc-json")):
        way, ledger = through(way, name, format)
        assert way == source
        assert not ledger.losses


def test_an_annotation_of_the_document_itself_stays_there(tmp_path: Path) -> None:
    annotation = {"id": "T0", "infons": {"type": "A"}, "locations": [{"offset": 0, "length": 2}]}
    layout = {"id": "d", "passages": [{"offset": 0, "text": "No pain."}], "annotations": [annotation]}
    (tmp_path / "a.json").write_text(json.dumps({"documents": [layout]}))
    source = list(read(tmp_path / "a.json", "bioc-json"))
    assert source[0].extras["bioc"]["mentions"] == {"T0": {"home": []}}
    assert through(source, "b.xml", "bioc-xml")[0] == source


def test_golden_file_reads_as_expected() -> None:
    first, second = read(GOLDEN / "bioc.xml")
    assert first.text == "Knee pain & swelling  It got worse.  Naïve 😀 he said."
    assert [(e.id, e.label, e.text, e.score) for e in first.entities] == [
        ("T1", "Symptom", "Knee pain", None),
        ("T2", "Symptom", "Knee swelling", 0.75),
        ("T4", "Course", "worse", None),
        ("T5", "Person", "he", None),
    ]
    layout = first.extras["bioc"]
    assert layout["collection"] == {
        "source": "made for tests",
        "date": "20240229",
        "key": "tests.key",
        "infons": {"licence": "MIT"},
    }
    assert layout["mentions"] == {"T1": {"infons": {"identifier": "MESH:D000001"}}}
    assert layout["passages"][0]["annotations"][0]["id"] == "T3"  # it has no location, so it is no mention
    assert layout["relations"][0]["nodes"][1] == {"refid": "T4", "role": "how"}
    assert (second.id, second.text) == ("case-2", "No findings.")


@pytest.mark.parametrize(("name", "format"), [("bioc.written.xml", "bioc-xml"), ("bioc.json", "bioc-json")])
def test_golden_file_is_written_as_expected(tmp_path: Path, name: str, format: str) -> None:
    write(read(GOLDEN / "bioc.xml"), tmp_path / name, format)
    assert (tmp_path / name).read_text() == (GOLDEN / name).read_text()
    assert list(read(GOLDEN / name)) == list(read(GOLDEN / "bioc.xml"))


@both
def test_a_changed_text_is_written_as_one_passage(name: str, format: str) -> None:
    first, _ = read(GOLDEN / "bioc.xml")
    changed = Document(first.id, "Arm pain", (Entity("A", ((4, 8),), "T4"),), extras=first.extras)
    (back,), ledger = through([changed], name, format)
    assert (back.text, back.entities) == (changed.text, changed.entities)
    assert ledger.losses == {"passages that no longer fit their text": 2}


@both
@pytest.mark.parametrize(
    "extras",
    [
        3,
        {"passages": 3},
        {"passages": [{"length": 4}]},
        {"passages": [{"offset": 0, "length": 4}], "mentions": {"T1": {"home": [9]}}},
        {"mentions": {"T1": 3}},
        {"relations": [3]},
        {"collection": 3},
        {"collection": {"infons": 3}},
    ],
)
def test_damaged_extras_are_said(tmp_path: Path, name: str, format: str, extras: Any) -> None:
    document = Document("d", "pain", (Entity("A", ((0, 4),), "T1"),), extras={"bioc": extras})
    with pytest.raises(BadInput, match="document 'd'"):
        write([document], tmp_path / name, format)
    assert not list(tmp_path.iterdir())
