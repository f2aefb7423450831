"""Documents as dictionaries, in one line, and as tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from disconer import BadInput, DisconerError, Document, Entity, Ledger, Sentence, read, to_dataframe, write
from disconer.formats.native import to_line
from disconer.serve.schemas import EntityAnswer
from strategies import documents

TEXT = "pain and stiffness in knees"
DOCUMENT = Document(
    "d1", TEXT, (Entity("ADR", ((0, 4), (22, 27)), "T1", 0.9321), Entity("ADR", ((9, 18),))), (Sentence(0, 27, ()),)
)


@given(documents())
def test_a_dictionary_has_all_of_text_and_entities(document: Document) -> None:
    again = Document.from_dict(document.to_dict())
    assert (again.id, again.text, again.entities) == (document.id, document.text, document.entities)


def test_a_line_of_jsonl_is_such_a_dictionary() -> None:
    assert Document.from_dict(json.loads(to_line(DOCUMENT))) == DOCUMENT
    assert Entity.from_dict({"label": "ADR", "start": 3, "end": 5}) == Entity("ADR", ((3, 5),))


@given(documents())
def test_what_a_dictionary_repeats_is_compared_with_the_fragments(document: Document) -> None:
    for number, entity in enumerate(document.entities):
        for change in ({"text": f"{entity.text}x"}, {"start": entity.start + 1}, {"end": entity.end + 1}):
            values = document.to_dict()
            values["entities"][number] |= change
            with pytest.raises(BadInput) as caught:
                Document.from_dict(values)
            assert caught.value.problem == ("text-mismatch" if "text" in change else "bad-offset")


def test_a_contradiction_has_its_place() -> None:
    entity = {"id": "T1", "label": "ADR", "fragments": [[7, 11]], "text": "rash"}
    with pytest.raises(BadInput, match=r"document 'd', entity T1, offset 7: .* Got 'e ra', expected 'rash'"):
        Document.from_dict({"id": "d", "text": "\r\nSevere rash", "entities": [entity]})
    with pytest.raises(BadInput, match=r"Got \[0, 5\), expected \[0, 4\)"):
        Entity.from_dict({"label": "ADR", "fragments": [[0, 4]], "end": 5})


def test_an_entity_that_is_part_of_no_document_has_no_text_to_compare() -> None:
    entity = Entity("ADR", ((0, 4), (22, 27)))
    assert Document.from_dict({"id": "d", "text": TEXT, "entities": [entity.to_dict()]}).entities == (entity,)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"text": "abc"}, "A document needs 'id'. Got a dictionary with 'text', expected"),
        ({"id": "d"}, "A document needs 'text'"),
        ({}, "a dictionary with nothing in it"),
        ("abc", "This is not a document. Got 'abc'"),
        ({"id": "d", "text": "abc", "entities": [{"start": 0, "end": 3}]}, "An entity needs 'label'"),
        ({"id": "d", "text": "abc", "entities": [{"label": "A", "start": 0}]}, "without fragments needs 'end'"),
        ({"id": "d", "text": "abc", "entities": 5}, "document 'd': The entities of this document are"),
        ({"id": "d", "text": "abc", "entities": [5]}, "This is not an entity. Got '5', expected"),
        ({"id": "d", "text": "abc", "entities": [{"label": "A", "fragments": 5}]}, "not pairs of whole numbers"),
        ({"id": "d", "text": "abc", "entities": [{"label": "A", "fragments": [[0]]}]}, "expected [[start, end], …]"),
        ({"id": "d", "text": "abc", "sentences": 5}, "Got '5', expected a list"),
        ({"id": "d", "text": "abc", "sentences": [{"start": 0}]}, "This is not a sentence"),
        ({"id": "d", "text": "abc", "extras": 5}, "Got '5', expected a dictionary"),
    ],
)
def test_what_is_missing_or_wrong_is_named(values: Any, message: str) -> None:
    with pytest.raises(DisconerError) as caught:
        Document.from_dict(values)
    assert message in str(caught.value)


def test_keys_are_the_same_everywhere() -> None:
    keys = set(DOCUMENT.entities[0].to_dict())
    assert set(EntityAnswer.model_fields) == keys
    (line,) = (json.loads(to_line(DOCUMENT)),)
    for record, own in zip(line["entities"], DOCUMENT.to_dict()["entities"], strict=True):
        assert {key: own[key] for key in record} == record


def test_one_line_says_what_it_is() -> None:
    assert repr(DOCUMENT) == f"Document('d1', '{TEXT}', 2 entities)"
    assert repr(DOCUMENT.entities[0]) == "Entity('ADR', [0-4, 22-27], id='T1', score=0.932, text='pain knees')"
    assert repr(Entity("ADR", ((0, 4),))) == "Entity('ADR', [0-4])"
    assert len(repr(Document("long", "x\n" * 1000))) < 100


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
def test_a_table_has_a_line_for_each_entity(tmp_path: Path, name: str, delimiter: str) -> None:
    ledger = Ledger()
    odd = Document("d2", 'a "b",\tc\nd', (Entity("ADR", ((0, 10),)),))
    write([DOCUMENT, odd, Document("d3", "nothing")], tmp_path / name, ledger=ledger)
    with open(tmp_path / name, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=delimiter))
    assert [(row["document"], row["text"], row["fragments"], row["kind"]) for row in rows] == [
        ("d1", "pain knees", "0 4;22 27", "discontinuous"),
        ("d1", "stiffness", "9 18", "regular"),
        ("d2", 'a "b",\tc\nd', "0 10", "regular"),
    ]
    assert ledger.losses["documents without entities"] == 1
    with pytest.raises(DisconerError, match="cannot be read"):
        list(read(tmp_path / name, name[-3:]))


def test_a_data_frame_has_a_row_for_each_entity() -> None:
    pytest.importorskip("pandas")
    frame = to_dataframe([DOCUMENT, DOCUMENT.replace(id="d2")])
    assert list(frame["document"]) == ["d1", "d1", "d2", "d2"]
    assert list(DOCUMENT.to_dataframe()["fragments"]) == [[[0, 4], [22, 27]], [[9, 18]]]
