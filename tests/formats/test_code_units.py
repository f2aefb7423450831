"""Offsets that count UTF-16 units, as tools in JavaScript and Java write them."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from typer.testing import CliRunner

from disconer import BadInput, DisconerError, Document, Entity, Ledger, read, write
from disconer.cli import app
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Fragment
from disconer.formats.code_units import BETWEEN, CodeUnits
from disconer.formats.native import to_record
from strategies import documents

TEXT = "😀 mild pain 😀😀 in 𠮷knees, ok"
COMMAND = r"disconer convert SRC OUT --offsets utf-16"


def entity(label: str, *parts: str, id: str | None = None) -> Entity:
    return Entity(label, tuple(Fragment(TEXT.index(part), TEXT.index(part) + len(part)) for part in parts), id)


# Emoji before, inside, between and at the ends of entities, and after all of them but one.
GOLD = Document(
    "d",
    TEXT,
    (
        entity("ADR", "pain", "𠮷knees", id="T1"),
        entity("ADR", "pain 😀😀 in", id="T2"),
        entity("Mood", "😀", id="T3"),
        entity("Mood", "ok", id="T4"),
    ),
)


def moved(document: Document) -> dict[str, Any]:
    """The record of a document with offsets in UTF-16 units."""
    units = CodeUnits(document.text)
    record = to_record(document)
    for one in record["entities"]:
        one["fragments"] = [[units.unit(start), units.unit(end)] for start, end in one["fragments"]]
    for one in record.get("sentences", ()):
        one |= {"start": units.unit(one["start"]), "end": units.unit(one["end"])}
        one["tokens"] = [[units.unit(start), units.unit(end)] for start, end in one["tokens"]]
    return record


def brat(folder: Path, document: Document) -> Path:
    """A brat folder whose offsets count UTF-16 units."""
    folder.mkdir()
    units = CodeUnits(document.text)
    lines = ["R1\tHas Arg1:T1 Arg2:T3\n"]
    for one in document.entities:
        offsets = ";".join(f"{units.unit(start)} {units.unit(end)}" for start, end in one.fragments)
        lines.append(f"{one.id}\t{one.label} {offsets}\t{one.text}\n")
    (folder / "d.txt").write_bytes(document.text.encode())
    (folder / "d.ann").write_bytes("".join(lines).encode())
    return folder


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return path


@given(documents())
def test_offsets_of_any_text_come_back(document: Document) -> None:
    with TemporaryDirectory() as folder:
        path = jsonl(Path(folder, "a.jsonl"), moved(document))
        assert list(read(path, offsets="utf-16")) == [document]


def test_sentences_and_extents_are_converted_too(tmp_path: Path) -> None:
    sentence = Sentence(0, len(TEXT), (Token(0, 1), Token(2, 6), Token(7, 11)))
    record = moved(GOLD.replace(sentences=(sentence,)))
    pairs = record["entities"][0]["fragments"]
    record["entities"][0] |= {"start": pairs[0][0], "end": pairs[-1][1], "text": GOLD.entities[0].text}
    (document,) = read(jsonl(tmp_path / "a.jsonl", record), offsets="utf-16")
    assert (document.entities, document.sentences) == (GOLD.entities, (sentence,))


def test_brat_is_converted_with_its_other_lines(tmp_path: Path) -> None:
    assert (
        CliRunner()
        .invoke(app, ["convert", str(brat(tmp_path / "a", GOLD)), str(tmp_path / "b"), "--offsets", "utf-16"])
        .exit_code
        == 0
    )
    (document,) = read(tmp_path / "b")
    assert document.entities == GOLD.entities
    assert (
        (tmp_path / "b" / "d.ann").read_text().startswith("R1\tHas Arg1:T1 Arg2:T3\nT1\tADR 7 11;18 24\tpain 𠮷knees\n")
    )


@pytest.mark.parametrize("format", ["doccano", "pubannotation", "label-studio"])
def test_other_formats_of_tools(tmp_path: Path, format: str) -> None:
    units = CodeUnits(TEXT)
    write([GOLD], tmp_path / "a.json", format)

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        names = {"begin", "start", "end", "start_offset", "end_offset"}
        return {
            name: units.unit(item) if name in names and type(item) is int else walk(item)
            for name, item in value.items()
        }

    (tmp_path / "a.json").write_text(json.dumps(walk(json.loads((tmp_path / "a.json").read_text("utf-8")))))
    (document,) = read(tmp_path / "a.json", format, offsets="utf-16")
    assert {one.key for one in document.entities} == {one.key for one in GOLD.entities}


@pytest.mark.parametrize("source", ["brat", "jsonl"])
def test_texts_without_such_characters_are_unchanged(tmp_path: Path, source: str) -> None:
    plain = Document(
        "d", "mild päin\r\n“ok” €", (Entity("ADR", (Fragment(5, 9),), "T1"), Entity("B", (Fragment(12, 14),)))
    )
    write([plain], tmp_path / source, source)
    write(read(tmp_path / source, source), tmp_path / "as-is", source)
    write(read(tmp_path / source, source, offsets="utf-16"), tmp_path / "converted", source)
    as_is, converted = (
        [
            path.read_bytes()
            for path in ([tmp_path / name] if source == "jsonl" else sorted((tmp_path / name).iterdir()))
        ]
        for name in ("as-is", "converted")
    )
    assert as_is == converted


def test_an_error_names_the_command(tmp_path: Path) -> None:
    shifted, cut = moved(GOLD), moved(GOLD)
    shifted["entities"][0]["text"] = GOLD.entities[0].text
    del cut["entities"][:-1]  # only the one that ends past the end of the text
    ((start, end),) = cut["entities"][0]["fragments"]
    span = {"id": 1, "label": "Mood", "start_offset": start, "end_offset": end}
    paths = [
        brat(tmp_path / "a", GOLD),
        jsonl(tmp_path / "shifted.jsonl", shifted),
        jsonl(tmp_path / "cut.jsonl", cut),
        jsonl(tmp_path / "doccano.jsonl", {"text": TEXT, "entities": [span], "relations": []}),
    ]
    for path in paths:
        with pytest.raises(BadInput, match=COMMAND):
            list(read(path))


def test_an_offset_within_a_character_is_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    path = jsonl(
        tmp_path / "a.jsonl", {"id": "d", "text": "no 😀", "entities": [{"label": "A", "fragments": [[0, 4]]}]}
    )
    (document,) = read(path, ledger=ledger, offsets="utf-16")
    assert (document.entities[0].end, ledger.repairs) == (3, {BETWEEN: 1})
    assert not ledger.in_utf16


def test_formats_that_count_otherwise_refuse(tmp_path: Path) -> None:
    write([GOLD], tmp_path / "a.xml")
    with pytest.raises(DisconerError, match=r"'bioc-xml' .* it is for jsonl, .*brat\."):
        read(tmp_path / "a.xml", offsets="utf-16")
    with pytest.raises(ValueError, match="got 'bytes'"):
        read(tmp_path / "a.xml", offsets="bytes")  # type: ignore[arg-type]
