from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.formats import sniff
from disconer.formats.entities import NAMELESS
from disconer.formats.extras import SENTENCES
from disconer.formats.pubannotation import NAMELESS_SCORES, RENAMED
from disconer.formats.source import Source
from round_trips import through
from strategies import documents, tokenised_documents

GOLDEN = Path(__file__).parent / "golden"
NAME = "pubannotation"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
@given(document=documents())
def test_round_trip_keeps_everything(document: Document, name: str) -> None:
    back, ledger = through([document], name, NAME)
    assert back == [document]
    assert not ledger.losses


@given(document=tokenised_documents())
def test_sentences_are_counted_as_lost(document: Document) -> None:
    back, ledger = through([document, document.replace(id="d2")], "a.json", NAME)
    assert back[0] == document.replace(sentences=None)
    assert back[1] == document.replace(sentences=None, id="d2")
    assert ledger.losses == {SENTENCES: 2 * len(document.sentences or ())}


def test_golden_file_reads_as_expected() -> None:
    ledger = Ledger()
    first, second = read(GOLDEN / "pubannotation.json", None, ledger)
    assert (first.id, second.id) == ("PubMed-123-0", "PMC-7-2")
    assert [(e.id, e.label, e.text, e.score) for e in first.entities] == [
        ("T1", "Symptom", "Pain in arms", 0.5),
        ("T2", "Symptom", "Pain in legs", None),
        (None, "Mood", "😀", None),
    ]
    extras = first.extras[NAME]
    assert extras["denotations"] == {"T2": {"url": "x"}}
    assert [attribute["id"] for attribute in extras["attributes"]] == ["A1"]
    assert extras["modifications"] == [{"id": "M1", "pred": "Speculation", "obj": "R1"}]
    assert [(e.id, e.label, e.text) for e in second.entities] == [
        ("chained_T1", "Symptom", "Pain legs"),
        ("chained_T3", "Place", "arms"),
        ("other_T1", "Symptom", "Pain"),
    ]
    assert second.extras[NAME]["tracks"][0]["relations"] == [{"id": "R1", "subj": "T1", "pred": "at", "obj": "T3"}]
    assert not ledger.losses


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "folder"])
def test_everything_else_survives_by_way_of_jsonl(name: str) -> None:
    source = list(read(GOLDEN / "pubannotation.json"))
    carried, _ = through(source, "a.jsonl", "jsonl")
    back, ledger = through(carried, name, NAME)
    assert sorted(back, key=lambda document: document.id, reverse=True) == source
    assert not ledger.losses


def test_golden_file_is_written_as_expected(tmp_path: Path) -> None:
    write(read(GOLDEN / "pubannotation.json"), tmp_path / "a.jsonl", NAME)
    assert (tmp_path / "a.jsonl").read_text() == (GOLDEN / "pubannotation.written.jsonl").read_text()


def test_a_path_without_suffix_becomes_a_folder_of_files(tmp_path: Path) -> None:
    write([Document("a", "x"), Document("b/c", "y")], tmp_path / "out", NAME)
    assert json.loads((tmp_path / "out" / "b" / "c.json").read_text()) == {
        "sourceid": "b/c",
        "text": "y",
        "denotations": [],
    }
    assert [document.id for document in read(tmp_path / "out")] == ["a", "b/c"]


def pubannotation(**changes: Any) -> dict[str, Any]:
    span = {"begin": 3, "end": 7}
    denotations = [{"id": "T1", "span": span, "obj": "A"} | changes.pop("denotation", {})]
    return {"sourceid": "d", "text": "No pain in arm or leg", "denotations": denotations} | changes


def put(path: Path, *records: Any) -> Path:
    path.write_text(json.dumps(records))
    return path


def test_documents_without_a_source_are_called_after_their_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    records = [{"text": "x"}, {"text": "y", "denotations": []}]
    put(tmp_path / "sub" / "a.json", *records)
    assert [document.id for document in read(tmp_path, NAME)] == ["sub/a", "sub/a-2"]


def test_chains_of_several_fragments_and_of_shared_ones(tmp_path: Path) -> None:
    def item(id: str, begin: int, end: int, obj: str) -> dict[str, Any]:
        return {"id": id, "span": {"begin": begin, "end": end}, "obj": obj}

    def link(subj: str, obj: str) -> dict[str, Any]:
        return {"pred": "_lexicallyChainedTo", "subj": subj, "obj": obj}

    denotations = [
        item("T1", 0, 2, "_FRAGMENT"),
        item("T2", 3, 7, "_FRAGMENT"),
        item("T3", 11, 14, "A"),
        item("T4", 18, 21, "B"),
    ]
    chains = [link("T3", "T2"), link("T2", "T1"), link("T1", "T2"), link("T4", "T1"), link("T4", "T3")]
    ledger = Ledger()
    path = put(tmp_path / "a.json", pubannotation(denotations=denotations, relations=chains))
    (document,) = read(path, None, ledger)
    assert [(entity.id, entity.label, entity.text) for entity in document.entities] == [
        ("T3", "A", "No pain arm"),
        ("T4", "B", "No pain leg"),
    ]
    assert document.extras[NAME]["relations"] == [link("T4", "T3")]  # T3 is no fragment, so this is another relation
    assert ledger.repairs == {"fragments split at whitespace": 2, "fragments out of order": 1}


def test_what_cannot_be_said_is_counted(tmp_path: Path) -> None:
    source, _ = read(GOLDEN / "pubannotation.json")
    renamed = Document("x", "pain", (Entity("A", ((0, 4),), None, 0.5),), extras=source.extras)
    _, ledger = through([renamed], "a.json", NAME)
    assert ledger.losses == {RENAMED: 1, NAMELESS_SCORES: 1}
    ledger = Ledger()
    path = put(tmp_path / "a.json", pubannotation(denotation={"id": None, "url": "x", "note": "y"}))
    assert len(list(read(path, NAME, ledger))) == 1
    assert ledger.losses == {NAMELESS: 2}


@pytest.mark.parametrize(
    "score",
    [
        {"subj": "T1", "pred": "score", "obj": 2},
        {"subj": "T1", "pred": "score", "obj": True},
        {"subj": "T1", "pred": "score", "obj": "high"},
        {"subj": "T9", "pred": "score", "obj": 0.5},
    ],
)
def test_an_attribute_that_is_no_score_of_ours_stays_an_attribute(tmp_path: Path, score: dict[str, Any]) -> None:
    (document,) = read(put(tmp_path / "a.json", pubannotation(attributes=[score])), NAME)
    assert document.entities[0].score is None
    assert document.extras[NAME]["attributes"] == [score]


BAD = [
    ("bad-offset", pubannotation(denotation={"span": {"begin": 3, "end": 99}})),
    ("bad-offset", pubannotation(denotation={"span": {"begin": 7, "end": 3}})),
    ("bad-offset", pubannotation(denotation={"span": {"begin": -1, "end": 3}})),
    ("empty-fragment", pubannotation(denotation={"span": {"begin": 2, "end": 3}})),
    ("bad-syntax", pubannotation(denotation={"span": {"begin": "3", "end": 7}})),
    ("bad-syntax", pubannotation(denotation={"span": {"begin": True, "end": 7}})),
    ("bad-syntax", pubannotation(denotation={"span": [3, 7]})),
    ("bad-syntax", pubannotation(denotation={"span": []})),
    ("bad-syntax", pubannotation(denotation={"span": None})),
    ("bad-syntax", pubannotation(denotation={"obj": None})),
    ("bad-syntax", pubannotation(denotation={"obj": ""})),
    ("bad-syntax", pubannotation(denotation={"obj": "_FRAGMENT"})),
    ("bad-syntax", pubannotation(denotations={})),
    ("bad-syntax", pubannotation(denotations=["T1"])),
    ("bad-syntax", pubannotation(relations=["R1"])),
    ("bad-syntax", pubannotation(tracks=[3])),
    ("bad-syntax", pubannotation(tracks={})),
    ("bad-syntax", pubannotation(text=None)),
    ("bad-syntax", pubannotation(text=["x"])),
    ("bad-syntax", 3),
    ("bad-syntax", []),
    ("duplicate-id", pubannotation(sourceid="c")),
    ("duplicate-id", pubannotation(denotations=pubannotation()["denotations"] * 2)),
]


@pytest.mark.parametrize(("problem", "bad"), BAD)
def test_bad_documents_stop_with_place_or_are_skipped_and_counted(tmp_path: Path, problem: str, bad: Any) -> None:
    path = put(tmp_path / "a.json", pubannotation(sourceid="c"), bad, pubannotation(sourceid="e"))
    with pytest.raises(BadInput) as caught:
        list(read(path, NAME))
    assert caught.value.problem == problem
    assert str(path) in str(caught.value)
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, NAME, ledger)][-1] == "e"
    assert ledger.errors == {problem: 1}


@pytest.mark.parametrize("extras", [3, {"tracks": 3}, {"denotations": {"T1": 3}}, {"attributes": 3}])
def test_damaged_extras_are_said(tmp_path: Path, extras: Any) -> None:
    document = Document("d", "pain", (Entity("A", ((0, 4),), "T1", 0.5),), extras={NAME: extras})
    with pytest.raises(BadInput, match="document 'd'"):
        write([document], tmp_path / "a.json", NAME)
    assert not list(tmp_path.iterdir())


def test_a_truncated_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([pubannotation()])[:-4])
    assert sniff(Source(path)).name == NAME
    with pytest.raises(BadInput, match="ends too early"):
        list(read(path))
