"""Label Studio, doccano and Prodigy, which have no gaps: fragments are spans that a relation links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.formats import all_formats
from disconer.formats.doccano import IDS, SCORES
from disconer.formats.extras import SENTENCES
from disconer.formats.label_studio import OTHERS, UTF16
from disconer.formats.linked import UNLIKE
from disconer.formats.prodigy import SPAN_FIELDS
from round_trips import through
from strategies import documents, tokenised_documents

GOLDEN = Path(__file__).parent / "golden"
FILES = {"label-studio": "label-studio.json", "doccano": "doccano.jsonl", "prodigy": "prodigy.jsonl"}
every_tool = pytest.mark.parametrize("format", FILES)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("format", ["label-studio", "prodigy"])
@given(document=documents())
def test_round_trip_keeps_everything(document: Document, name: str, format: str) -> None:
    back, ledger = through([document, document.replace(id="e")], name, format)
    assert back == [document, document.replace(id="e")]
    assert not ledger.losses


@given(document=documents())
def test_doccano_keeps_what_it_can(document: Document) -> None:
    back, ledger = through([document], "a.jsonl", "doccano")
    assert [(one.id, one.text) for one in back] == [(document.id, document.text)]
    assert [entity.key for entity in back[0].entities] == [entity.key for entity in document.entities]
    n_scores = sum(entity.score is not None for entity in document.entities)
    counts = {SCORES: n_scores, IDS: len(document.entities)}
    assert ledger.losses == {name: times for name, times in counts.items() if times}


def test_doccano_keeps_ids_that_are_numbers() -> None:
    entities = (Entity("A", ((0, 1), (2, 3)), "12"), Entity("B", ((0, 1),), "007"), Entity("C", ((0, 1),)))
    (back,), ledger = through([Document("5", "a-b", entities)], "a.jsonl", "doccano")
    assert [entity.id for entity in back.entities] == ["12", "14", "15"]
    assert back.id == "5"
    assert ledger.losses == {IDS: 1}


@every_tool
@given(document=tokenised_documents())
def test_sentences_are_counted_as_lost(document: Document, format: str) -> None:
    _, ledger = through([document], "a.json", format)
    assert ledger.losses[SENTENCES] == len(document.sentences or ())


@every_tool
def test_entities_that_share_a_fragment_stay_apart(format: str) -> None:
    shared = (Entity("A", ((0, 4), (8, 12)), "1"), Entity("A", ((0, 4), (17, 21)), "2"), Entity("A", ((0, 4),), "3"))
    (back,), ledger = through([Document("d", "Pain in arms and legs", shared)], "a.json", format)
    assert back.entities == shared
    assert not ledger.losses


@every_tool
def test_a_golden_file_is_recognised_by_its_own_format_only(tmp_path: Path, format: str) -> None:
    def recognised(path: Path) -> list[str]:
        telling = [other for other in all_formats() if other.name != "text"]
        return [other.name for other in telling if other.sniff(path.name, path.read_bytes())]

    golden = GOLDEN / FILES[format]
    assert recognised(golden) == [format]
    write(read(golden), tmp_path / "a.jsonl")
    assert recognised(tmp_path / "a.jsonl") == ["jsonl"]
    write(read(golden), tmp_path / "b.jsonl", format)
    assert recognised(tmp_path / "b.jsonl") == [format]


@every_tool
def test_everything_else_survives_by_way_of_jsonl(format: str) -> None:
    source = list(read(GOLDEN / FILES[format]))
    carried, _ = through(source, "a.jsonl", "jsonl")
    back, ledger = through(carried, "b.jsonl", format)
    given = [document.replace(entities=()) for document in source]
    assert [document.replace(entities=()) for document in back] == given
    keys = [[(entity.key, entity.score) for entity in document.entities] for document in source]
    assert [[(entity.key, entity.score) for entity in document.entities] for document in back] == keys
    assert not ledger.losses


def said(path: Path, ledger: Ledger) -> list[tuple[str, list[tuple[Any, ...]]]]:
    return [
        (document.id, [(one.id, one.label, one.text, one.score) for one in document.entities])
        for document in read(path, None, ledger)
    ]


def test_label_studio_golden_file_reads_as_expected() -> None:
    ledger = Ledger()
    assert said(GOLDEN / "label-studio.json", ledger) == [
        (
            "7",
            [
                ("r1", "Symptom", "Pain 😀 in arms", None),
                ("r3", "Symptom", "Pain legs", None),
                ("r4", "Severity", "mild", None),
                (None, "Modifier", "mild", None),
            ],
        ),
        ("8", [("p1", "Symptom", "Pain", 0.75)]),
    ]
    assert ledger.losses == {OTHERS: 3}
    assert ledger.repairs == {UTF16: 1}  # the second task is of an old version
    first, second = read(GOLDEN / "label-studio.json")
    extras = first.extras["label-studio"]
    assert extras["data"] == {"url": "n1"}
    assert [result["type"] for result in extras["results"]] == ["choices", "relation"]
    assert extras["annotation"] == {"id": 2, "completed_by": 4}
    assert second.extras["label-studio"]["text_key"] == "note"


def test_doccano_golden_file_reads_as_expected() -> None:
    ledger = Ledger()
    assert said(GOLDEN / "doccano.jsonl", ledger) == [
        (
            "7",
            [
                ("3", "Symptom", "Pain in arms", None),
                ("5", "Symptom", "Pain in legs", None),
                ("9", "Severity", "mild", None),
            ],
        ),
        ("8", [(None, "Symptom", "pain", None)]),
        ("doccano-3", []),
    ]
    assert not ledger.losses
    first = next(read(GOLDEN / "doccano.jsonl"))
    relations = [{"id": 2, "from_id": 9, "to_id": 3, "type": "of"}]
    assert first.extras["doccano"] == {"Comments": ["sure?"], "relations": relations}


def test_prodigy_golden_file_reads_as_expected() -> None:
    ledger = Ledger()
    assert said(GOLDEN / "prodigy.jsonl", ledger) == [
        ("n1", [(None, "Symptom", "Pain in arms", None), (None, "Symptom", "Pain in legs", 0.5)]),
        ("prodigy-2", [("T9", "Symptom", "pain", None)]),
    ]
    assert ledger.losses == {"tasks with the answer reject": 1, SPAN_FIELDS: 1}
    extras = next(read(GOLDEN / "prodigy.jsonl")).extras["prodigy"]
    assert extras["meta"] == {"source": "ward"}
    assert [relation["label"] for relation in extras["relations"]] == ["and"]


DOCUMENT = Document("d", "Pain in arms and legs", (Entity("A", ((0, 4), (17, 21)), "1", 0.5), Entity("B", ((8, 12),))))


def written(format: str, tmp_path: Path) -> Any:
    write([DOCUMENT], tmp_path / "a.json", format)
    return json.loads((tmp_path / "a.json").read_text("utf-8"))


def test_label_studio_is_written_as_it_imports(tmp_path: Path) -> None:
    def region(id: str, start: int, end: int, label: str, **score: float) -> dict[str, Any]:
        value = {"start": start, "end": end, "text": DOCUMENT.text[start:end], "labels": [label]}
        return {"id": id, "from_name": "label", "to_name": "text", "type": "labels", "value": value} | score

    link = {"type": "relation", "from_id": "1", "to_id": "1.2", "direction": "right", "labels": ["fragment"]}
    regions = [region("1", 0, 4, "A", score=0.5), region("1.2", 17, 21, "A", score=0.5), region("e2", 8, 12, "B"), link]
    assert written("label-studio", tmp_path) == {
        "data": {"id": "d", "text": DOCUMENT.text},
        "annotations": [{"result": regions}],
    }
    scored = DOCUMENT.replace(entities=DOCUMENT.entities[:1])
    write([scored], tmp_path / "b.json", "label-studio")
    task = json.loads((tmp_path / "b.json").read_text("utf-8"))
    assert [one["model_version"] for one in task["predictions"]] == ["disconer"]
    assert "annotations" not in task


def test_doccano_is_written_for_projects_with_and_without_relations(tmp_path: Path) -> None:
    assert written("doccano", tmp_path) == {
        "id": "d",
        "label": [[8, 12, "B"]],
        "entities": [
            {"id": 1, "label": "A", "start_offset": 0, "end_offset": 4},
            {"id": 2, "label": "A", "start_offset": 17, "end_offset": 21},
            {"id": 3, "label": "B", "start_offset": 8, "end_offset": 12},
        ],
        "relations": [{"id": 4, "from_id": 1, "to_id": 2, "type": "fragment"}],
        "text": DOCUMENT.text,
    }


def test_prodigy_is_written_with_tokens_where_there_is_a_gap(tmp_path: Path) -> None:
    task = written("prodigy", tmp_path)
    first, second, third = task["spans"]
    assert first == {
        "start": 0, "end": 4, "label": "A", "token_start": 0, "token_end": 0, "id": "1", "score": 0.5, "entity": 1,
    }  # fmt: skip
    assert (second["token_start"], second["token_end"], third["token_start"]) == (4, 4, 2)
    link = {"head": 0, "child": 4, "head_span": first, "child_span": second, "label": "fragment"}
    assert task["relations"] == [link]
    assert task["tokens"][4] == {"text": "legs", "start": 17, "end": 21, "id": 4, "ws": False}
    write([DOCUMENT.replace(entities=DOCUMENT.entities[1:])], tmp_path / "b.json", "prodigy")
    assert "tokens" not in json.loads((tmp_path / "b.json").read_text("utf-8"))


def test_links_between_labels_join_nothing_and_are_counted(tmp_path: Path) -> None:
    task = written("doccano", tmp_path)
    task["relations"][0]["to_id"] = 3
    (tmp_path / "a.json").write_text(json.dumps(task))
    ledger = Ledger()
    (document,) = read(tmp_path / "a.json", None, ledger)
    assert [entity.text for entity in document.entities] == ["Pain", "legs", "arms"]
    assert ledger.losses == {UNLIKE: 1}


@pytest.mark.parametrize(
    ("format", "record", "message"),
    [
        ("label-studio", {"data": {"a": "x", "b": "y"}}, "This task has no text. Got data with the fields a, b"),
        ("label-studio", {"data": {"text": "x"}, "annotations": [3]}, "'annotations' is not a list of objects"),
        ("doccano", {"text": "pain", "label": [[0, 4]]}, r"This is not a label. Got '\[0, 4\]'"),
        ("doccano", {"text": "pain", "label": [[0, 9, "A"]]}, "ends past the end of the text"),
        ("doccano", {"text": "pain", "label": [["0", 4, "A"]]}, "offset of an entity is of the wrong type"),
        ("prodigy", {"text": "pain", "spans": [{"start": 0, "end": 4}]}, "label of an entity is of the wrong type"),
        ("prodigy", {"spans": []}, "The field 'text' is missing"),
        ("prodigy", {"text": "pain", "meta": [], "spans": []}, "The field 'meta' is of the wrong type"),
    ],
)
def test_bad_input(tmp_path: Path, format: str, record: Any, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "good"} if format != "label-studio" else {"data": {"text": "good"}}) + "\n")
    path.open("a").write(json.dumps(record) + "\n")
    with pytest.raises(BadInput, match=message) as caught:
        list(read(path, format))
    assert "line 2" in str(caught.value)
    ledger = Ledger(skip_bad=True)
    assert len(list(read(path, format, ledger))) >= 1
    assert ledger.errors.total() == 1


def test_a_region_whose_text_does_not_fit(tmp_path: Path) -> None:
    task = written("label-studio", tmp_path)
    task["annotations"][0]["result"][1]["value"]["text"] = "arms"
    (tmp_path / "a.json").write_text(json.dumps(task))
    with pytest.raises(BadInput, match="differs from the text of the entity"):
        list(read(tmp_path / "a.json"))
