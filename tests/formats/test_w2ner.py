from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.formats import sniff
from disconer.formats.source import Source
from strategies import tokenised_documents
from token_formats import round_trip, seen

GOLDEN = Path(__file__).parent / "golden" / "w2ner" / "sentences.json"


@given(document=tokenised_documents())
def test_round_trip_keeps_words_and_entities(document: Document) -> None:
    documents, ledger = round_trip([document], "w2ner", ".json")
    assert seen(documents) == seen([document])
    assert not ledger.repairs
    assert not any("entities" in what for what in ledger.losses)


def test_golden_file_reads_and_comes_back_as_it_was(tmp_path: Path) -> None:
    found = list(read(GOLDEN))
    assert [document.id for document in found] == ["sentences-1", "sentences-2", "sentences-3"]
    assert [entity.text for entity in found[0].entities] == ["Severe joint pain", "neck pain"]
    assert found[1].extras == {"w2ner": {"word": [[0, 1], [2, 3]]}}
    ledger = Ledger()
    write(found, tmp_path / "out.json", "w2ner", ledger)
    written = json.loads((tmp_path / "out.json").read_bytes())
    assert [one.pop("doc_id") for one in written] == ["sentences-1", "sentences-2", "sentences-3"]
    assert written == json.loads(GOLDEN.read_bytes())
    assert not ledger.losses
    assert list(read(tmp_path / "out.json")) == found


def test_documents_keep_their_ids_and_sentences(tmp_path: Path) -> None:
    documents = [Document("n/1", "a b\nc d", (Entity("X", ((4, 5),)),)), Document("n/2", "e")]
    ledger = Ledger()
    write(documents, tmp_path / "a.json", "w2ner", ledger)
    assert [(one.id, one.text, one.entities) for one in read(tmp_path / "a.json")] == [
        (one.id, one.text, one.entities) for one in documents
    ]
    assert not ledger.losses


def test_other_keys_of_several_sentences_come_back(tmp_path: Path) -> None:
    records = [{"doc_id": "d", "word": [number]} | record("a b") for number in (1, 2)]
    (document,) = read(save(tmp_path / "a.json", *records))
    write([document], tmp_path / "b.json", "w2ner")
    assert json.loads((tmp_path / "b.json").read_text()) == records


def save(path: Path, *records: object) -> Path:
    path.write_text(json.dumps(records))
    return path


def record(words: str = "a b c", **entity: object) -> dict[str, object]:
    return {"sentence": words.split(), "ner": [{"index": [0], "type": "X"} | entity]}


def test_positions_in_any_order_are_sorted_and_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    (document,) = read(save(tmp_path / "a.json", record(index=[2, 0])), ledger=ledger)
    assert document.entities[0].fragments == ((0, 1), (4, 5))
    assert ledger.repairs == {"fragments out of order": 1}


def test_a_word_with_a_space_stays_one_token(tmp_path: Path) -> None:
    path = save(tmp_path / "a.json", {"sentence": ["1 000", "mg"], "ner": [{"index": [1], "type": "Unit"}]})
    (document,) = read(path)
    assert document.text == "1 000 mg"
    assert document.entities[0].text == "mg"
    write([document], tmp_path / "b.json", "w2ner")
    assert json.loads((tmp_path / "b.json").read_text())[0]["sentence"] == ["1 000", "mg"]


def test_no_documents_make_an_empty_array(tmp_path: Path) -> None:
    write([], tmp_path / "a.json", "w2ner")
    assert json.loads((tmp_path / "a.json").read_text()) == []
    assert list(read(tmp_path / "a.json", "w2ner")) == []


BAD = [
    ("empty-fragment", {"sentence": ["a", " "], "ner": [{"index": [1], "type": "X"}]}),
    ("bad-offset", record(index=[3])),
    ("bad-offset", record(index=[-1])),
    ("bad-syntax", record(index=[])),
    ("bad-syntax", record(index=["0"])),
    ("bad-syntax", record(index=0)),
    ("bad-syntax", record(type=None)),
    ("bad-syntax", record(type="")),
    ("bad-syntax", {"sentence": ["a"], "ner": ["X"]}),
    ("bad-syntax", {"sentence": ["a", ""], "ner": []}),
    ("bad-syntax", {"sentence": ["a", 1], "ner": []}),
    ("bad-syntax", {"sentence": "a b", "ner": []}),
    ("bad-syntax", {"ner": []}),
    ("bad-syntax", "a b"),
]


@pytest.mark.parametrize(("problem", "bad"), BAD)
def test_bad_records_stop_with_place_or_are_skipped_and_counted(tmp_path: Path, problem: str, bad: object) -> None:
    path = save(tmp_path / "a.json", record(), bad, record())
    with pytest.raises(BadInput, match="document 'a-2'") as caught:
        list(read(path, "w2ner"))
    assert caught.value.problem == problem
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, "w2ner", ledger)][-1] == "a-3"
    assert ledger.errors == {problem: 1}


def test_a_file_cut_off_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(GOLDEN.read_bytes()[:-40])
    with pytest.raises(BadInput) as caught:
        list(read(path))
    assert caught.value.problem == "truncated"


@pytest.mark.parametrize("indent", [None, 2])
def test_it_is_recognised_however_it_is_laid_out(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"ner": [], "sentence": ["text", "passages"]}], indent=indent))
    assert sniff(Source(path)).name == "w2ner"
