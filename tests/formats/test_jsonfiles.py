from __future__ import annotations

import json
from pathlib import Path

import pytest

from disconer import BadInput, Ledger
from disconer.core.errors import Where
from disconer.formats import jsonfiles
from disconer.formats.jsonfiles import dump_json, iter_records, leading_keys, parse_json
from disconer.formats.source import Source


def records(path: Path, ledger: Ledger | None = None) -> list[object]:
    (member,) = Source(path)
    return [record for _, record in iter_records(member, ledger or Ledger())]


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, {"a": 2}]',
        '[\n  {\n    "a": 1\n  },\n  {"a": 2}\n]\n',
        '{"a": 1}\n{"a": 2}\n',
        '\ufeff{"a": 1}\r\n\r\n{"a": 2}',
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.txt"])
def test_arrays_and_lines_are_told_apart_by_content(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert records(path) == [{"a": 1}, {"a": 2}]


def test_a_lone_object_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a":\n{"b": 1}\n}')
    assert records(path) == [{"a": {"b": 1}}]


def test_a_bad_line_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": \n{"a": 2}\n{"a": ]}\n')
    ledger = Ledger(skip_bad=True)
    assert records(path, ledger) == [{"a": 2}]
    assert ledger.errors == {"truncated": 1, "bad-syntax": 1}
    assert "line 1" in str(ledger.examples[0])


def test_a_huge_file_is_refused_before_it_fills_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonfiles, "MAX_FILE", 100)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(["a" * 100]))
    with pytest.raises(BadInput, match=r"JSON Lines"):
        records(path)


TRUNCATED = json.dumps({"text": 'a "b" \n', "span": [1, {"x": None}], "ok": True})


@pytest.mark.parametrize("cut", range(1, len(TRUNCATED)))
def test_json_cut_anywhere_is_said_to_end_too_early(cut: int) -> None:
    with pytest.raises(BadInput, match=r"a\.json, line 1: .* ends too early") as caught:
        parse_json(TRUNCATED[:cut], Where("a.json"))
    assert caught.value.problem == "truncated"


@pytest.mark.parametrize("text", ["hello", "{'a': 1}", "[" * 100_000, '{"a": ' + "9" * 5000 + "}", "[1, 2,, 3]"])
def test_what_is_not_json_is_said_so(text: str) -> None:
    with pytest.raises(BadInput):
        parse_json(text, Where("a.json"))


@pytest.mark.parametrize(
    ("head", "keys"),
    [
        ('{"a": {"b": 1}, "c": [{"d": 2}], "e": "\\"f\\": 1", "g', {"a", "c", "e"}),
        ('  [\n {"a": 1}, {"b": 1}]', {"a"}),
        ('[["x"], {"a": 1}]', {"a"}),
        ('{"a": "cut off with \\"b\\": 1, {\\"c\\": 2', {"a"}),
        ('{"a": "b"c": 2, "d": "e"', {"a"}),
        ("a: {b}", set()),
        ("", set()),
    ],
)
def test_leading_keys(head: str, keys: set[str]) -> None:
    assert leading_keys(head.encode()) == keys


def test_half_a_surrogate_pair_survives() -> None:
    assert json.loads(dump_json(["\ud800 é"]).decode()) == ["\ud800 é"]
