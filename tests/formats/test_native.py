from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from disconer import BadInput, Document, Ledger, read, write
from disconer.formats.native import to_line, to_record
from strategies import documents, tokenised_documents


@given(documents() | tokenised_documents())
def test_a_line_is_the_json_of_its_record(document: Document) -> None:
    line = json.dumps(to_record(document), ensure_ascii=False, separators=(",", ":"))
    assert to_line(document) == line.encode("utf-8", "backslashreplace") + b"\n"


@given(document=documents() | tokenised_documents())
def test_round_trip_keeps_everything(document: Document) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl.gz")
        write([document], path)
        assert list(read(path)) == [document]


@given(document=documents())
def test_what_dictionaries_repeat_of_an_entity_is_accepted(document: Document) -> None:
    record = json.dumps(document.to_dict()).encode()
    with TemporaryDirectory() as folder:
        Path(folder, "a.jsonl").write_bytes(record)
        ledger = Ledger()
        assert list(read(Path(folder, "a.jsonl"), "jsonl", ledger)) == [document]
        assert not ledger.losses


def test_start_and_end_are_the_fragment_if_there_are_none(tmp_path: Path) -> None:
    entities = [{"label": "A", "start": 5, "end": 9, "text": "pain"}, {"label": "A", "start": 5}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "d", "text": "Knee pain", "entities": entities}))
    ledger = Ledger(skip_bad=True)
    ((document,),) = [list(read(tmp_path / "a.jsonl", None, ledger))]
    assert [entity.key for entity in document.entities] == [("A", ((5, 9),))]
    assert ledger.errors == {"bad-syntax": 1}


def test_a_contradicting_entity_is_skipped_by_itself(tmp_path: Path) -> None:
    good, bad = {"label": "A", "fragments": [[5, 9]], "text": "pain"}, {"label": "A", "fragments": [[0, 4]], "end": 5}
    (tmp_path / "a.jsonl").write_text(line(entities=[bad, good]))
    with pytest.raises(BadInput, match=r"line 1, offset 0: .*start and end.* Got \[0, 5\), expected \[0, 4\)"):
        list(read(tmp_path / "a.jsonl"))
    (document,) = read(tmp_path / "a.jsonl", ledger=Ledger(skip_bad=True))
    assert [entity.text for entity in document.entities] == ["pain"]


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    """Windows' editors and shells write one."""
    (tmp_path / "a.jsonl").write_text(f"\ufeff{line()}\r\n", "utf-8", newline="")
    assert [document.text for document in read(tmp_path / "a.jsonl")] == ["some pain"]


def line(**changes: object) -> str:
    return json.dumps({"id": "d", "text": "some pain", "entities": []} | changes)


BAD = [
    ("bad-offset", line(entities=[{"label": "A", "fragments": [[0, 99]]}])),
    ("bad-offset", line(entities=[{"label": "A", "fragments": [[4, 2]]}])),
    ("empty-fragment", line(entities=[{"label": "A", "fragments": [[2, 2]]}])),
    ("empty-fragment", line(entities=[{"label": "A", "fragments": [[4, 5]]}])),
    ("text-mismatch", line(entities=[{"label": "A", "fragments": [[1, 5]], "text": "pain"}])),
    ("text-mismatch", line(entities=[{"label": "A", "fragments": [[0, 4], [6, 9]], "text": "some pain"}])),
    ("bad-offset", line(entities=[{"label": "A", "fragments": [[5, 9]], "start": 4}])),
    ("bad-offset", line(entities=[{"label": "A", "fragments": [[0, 4], [6, 9]], "start": 0, "end": 4}])),
    ("bad-offset", line(entities=[{"label": "A", "fragments": [[5, 9]], "end": "9"}])),
    ("wrong-type", line(entities=[{"label": "A", "fragments": [[5, 9]], "text": ["pain"]}])),
    ("bad-syntax", line(entities=[{"label": "A"}])),
    ("bad-syntax", line(entities=["A"])),
    ("bad-syntax", line(text=3)),
    ("bad-syntax", line(sentences=[{"start": 0, "end": 9, "tokens": [[0, 4]], "heads": [0]}])),
    ("bad-syntax", line(sentences=[{"start": 0, "end": 9, "tokens": [[0, 4]], "heads": [-1, 0]}])),
    ("bad-syntax", line(sentences=[{"start": 0, "end": 9, "tokens": [[0, 4]], "heads": ["-1"]}])),
    ("bad-syntax", line(sentences=[{"start": 0, "end": 9, "tokens": [[0, 12]]}])),
    ("bad-syntax", "[" * 100_000),
    ("truncated", line()[:-3]),
    ("duplicate-id", line(id="c")),
]


@pytest.mark.parametrize(("problem", "bad"), BAD)
def test_bad_lines_stop_with_place_or_are_skipped_and_counted(tmp_path: Path, problem: str, bad: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(id="c") + "\n" + bad + "\n" + line(id="e") + "\n")
    with pytest.raises(BadInput) as caught:
        list(read(path, "jsonl"))
    assert caught.value.problem == problem
    assert str(path) in str(caught.value)
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, "jsonl", ledger)][-1] == "e"
    assert ledger.errors == {problem: 1}


def test_broken_utf8_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line().encode() + b'\n{"id": "\xff"}\n')
    with pytest.raises(BadInput, match=r"line 2.*0xff at byte 8 of the line"):
        list(read(path, "jsonl"))
