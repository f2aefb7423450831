from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.formats import sniff
from disconer.formats.bigbio import MISPLACED, SCORES
from disconer.formats.entities import NAMELESS
from disconer.formats.extras import SENTENCES
from disconer.formats.source import Source
from round_trips import through
from strategies import documents, tokenised_documents

GOLDEN = Path(__file__).parent / "golden"
NAME = "bigbio"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@given(document=documents() | tokenised_documents())
def test_round_trip_keeps_all_but_scores_and_sentences_which_are_counted(document: Document, name: str) -> None:
    back, ledger = through([document], name, NAME)
    unscored = tuple(replace(entity, score=None) for entity in document.entities)
    assert back == [document.replace(entities=unscored, sentences=None)]
    n_scores = sum(entity.score is not None for entity in document.entities)
    losses = {SCORES: n_scores, SENTENCES: len(document.sentences or ())}
    assert ledger.losses == {what: times for what, times in losses.items() if times}


def test_golden_file_reads_as_expected() -> None:
    first, second = read(GOLDEN / "bigbio.json")
    assert (first.id, first.text) == ("123", "Knee pain & swelling Naïve 😀. It got worse.")
    assert [(e.id, e.label, e.text) for e in first.entities] == [
        ("3", "Symptom", "Knee swelling"),
        ("4", "Course", "worse"),
    ]
    extras = first.extras[NAME]
    assert extras["id"] == "0"
    assert extras["entities"] == {"3": {"normalized": [{"db_name": "MESH", "db_id": "D000001"}]}}
    assert [item["id"] for item in extras["unlocated"]] == ["5"]  # it has no offsets, so it is no mention
    assert [passage["type"] for passage in extras["passages"]] == ["title", "abstract"]
    assert (second.id, second.text) == ("9", "No findings.")


def test_golden_file_comes_back_by_way_of_jsonl(tmp_path: Path) -> None:
    carried, _ = through(read(GOLDEN / "bigbio.json"), "a.jsonl", "jsonl")
    ledger = Ledger()
    write(carried, tmp_path / "a.json", NAME, ledger)
    assert json.loads((tmp_path / "a.json").read_text()) == json.loads((GOLDEN / "bigbio.json").read_text())
    assert not ledger.losses


def bigbio(**changes: Any) -> dict[str, Any]:
    entity = {"id": "T1", "type": "A", "text": ["pain"], "offsets": [[3, 7]]} | changes.pop("entity", {})
    passage = {"id": "P1", "type": "x", "text": ["No pain."], "offsets": [[0, 8]]} | changes.pop("passage", {})
    return {"id": "0", "document_id": "d", "passages": [passage], "entities": [entity]} | changes


def put(path: Path, *records: Any) -> Path:
    path.write_text(json.dumps(records))
    return path


@pytest.mark.parametrize(
    "offsets",
    [
        [[[0, 8]], [[8, 12]]],  # a length that is wrong
        [[[0, 8]], [[4, 7]]],  # an overlap
        [[], []],
    ],
)
def test_passages_with_wrong_offsets_are_joined_by_spaces(tmp_path: Path, offsets: Any) -> None:
    texts = ["No pain.", "Leg"]
    passages = [{"text": [text], "offsets": pairs} for text, pairs in zip(texts, offsets, strict=True)]
    leg = {"id": "T1", "type": "A", "text": ["Leg"], "offsets": [[9, 12]]}
    ledger = Ledger()
    (document,) = read(put(tmp_path / "a.json", bigbio(passages=passages, entities=[leg])), NAME, ledger)
    assert document.text == "No pain. Leg"
    assert ledger.repairs == {MISPLACED: 2}
    back, ledger = through([document], "a.json", NAME)
    assert back == [document]
    assert not ledger.repairs


def test_texts_as_plain_strings_and_numbers_as_ids(tmp_path: Path) -> None:
    record = bigbio(document_id=7, passage={"text": "No pain."}, entity={"id": 3, "text": "pain"})
    (document,) = read(put(tmp_path / "a.json", record))
    assert (document.id, document.text) == ("7", "No pain.")
    assert [(entity.id, entity.text) for entity in document.entities] == [("3", "pain")]


def test_one_record_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(bigbio(document_id=id)) for id in "abc"))
    assert [document.id for document in read(path)] == ["a", "b", "c"]


def test_what_cannot_be_said_is_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    (document,) = read(put(tmp_path / "a.json", bigbio(entity={"id": None, "normalized": [1]})), NAME, ledger)
    assert ledger.losses == {NAMELESS: 1}
    changed = Document("d", "Pain", (Entity("A", ((0, 4),)),), extras=document.extras)
    back, ledger = through([changed], "a.json", NAME)
    assert (back[0].text, back[0].entities) == (changed.text, changed.entities)
    assert ledger.losses == {"passages that no longer fit their text": 1}


BAD = [
    ("bad-offset", bigbio(entity={"offsets": [[3, 99]]})),
    ("bad-offset", bigbio(entity={"offsets": [[7, 3]]})),
    ("bad-offset", bigbio(entity={"offsets": [[-1, 3]]})),
    ("empty-fragment", bigbio(entity={"offsets": [[3, 7], [2, 3]]})),
    ("text-mismatch", bigbio(entity={"text": ["gain"]})),
    ("bad-syntax", bigbio(entity={"offsets": [3, 7]})),
    ("bad-syntax", bigbio(entity={"offsets": [[3]]})),
    ("bad-syntax", bigbio(entity={"offsets": [["3", 7]]})),
    ("bad-syntax", bigbio(entity={"offsets": [[True, 7]]})),
    ("bad-syntax", bigbio(entity={"offsets": {"x": 3}})),
    ("bad-syntax", bigbio(entity={"text": [3]})),
    ("bad-syntax", bigbio(entity={"type": None})),
    ("bad-syntax", bigbio(entity={"type": ["A"]})),
    ("bad-syntax", bigbio(entity={"type": ""})),
    ("bad-syntax", bigbio(entities={"id": ["T1"]})),
    ("bad-syntax", bigbio(entities=["T1"])),
    ("bad-syntax", bigbio(passage={"text": 3})),
    ("bad-syntax", bigbio(passages=3)),
    ("bad-syntax", bigbio(passages=[3])),
    ("bad-syntax", bigbio(id=None, document_id=None)),
    ("bad-syntax", bigbio(document_id=[])),
    ("bad-syntax", 3),
    ("duplicate-id", bigbio(document_id="c")),
    ("duplicate-id", bigbio(entities=bigbio()["entities"] * 2)),
]


@pytest.mark.parametrize(("problem", "bad"), BAD)
def test_bad_records_stop_with_place_or_are_skipped_and_counted(tmp_path: Path, problem: str, bad: Any) -> None:
    path = put(tmp_path / "a.json", bigbio(document_id="c"), bad, bigbio(document_id="e"))
    with pytest.raises(BadInput) as caught:
        list(read(path, NAME))
    assert caught.value.problem == problem
    assert str(path) in str(caught.value)
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, NAME, ledger)][-1] == "e"
    assert ledger.errors == {problem: 1}


@pytest.mark.parametrize("extras", [3, {"passages": 3}, {"passages": [{}]}, {"entities": {"T1": 3}}, {"unlocated": 3}])
def test_damaged_extras_are_said(tmp_path: Path, extras: Any) -> None:
    document = Document("d", "pain", (Entity("A", ((0, 4),), "T1"),), extras={NAME: extras})
    with pytest.raises(BadInput, match="document 'd'"):
        write([document], tmp_path / "a.json", NAME)
    assert not list(tmp_path.iterdir())


def test_a_truncated_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([bigbio()])[:-4])
    assert sniff(Source(path)).name == NAME
    with pytest.raises(BadInput, match="ends too early"):
        list(read(path))
