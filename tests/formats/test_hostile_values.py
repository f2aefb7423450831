"""Values of the wrong type, numbers and nesting without end: one paragraph with file and line, never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from disconer import BadInput, Document, Entity, Ledger, read, write
from disconer.formats.native import UNKNOWN_FIELDS
from disconer.formats.target import SHORTENED

TEXT = "some pain in the knees"
ODD: list[Any] = [3, 0.5, True, [], ["x"], {"a": 1}, 10**30]


def line(**changes: Any) -> str:
    return json.dumps({"id": "d", "text": TEXT, "entities": []} | changes)


def entity(**changes: Any) -> dict[str, Any]:
    return {"id": "T1", "label": "A", "fragments": [[0, 4]]} | changes


def sentence(**changes: Any) -> dict[str, Any]:
    return {"start": 0, "end": 22, "tokens": [[0, 4], [5, 9]], "heads": [1, -1], "relations": ["a", "b"]} | changes


WRONG = [
    *[line(entities=[entity(id=value)]) for value in ODD],
    *[line(entities=[entity(label=value)]) for value in ODD],
    *[line(entities=[entity(fragments=[[0, value]])]) for value in [4.0, "4", True, [4], {}, None]],
    *[line(entities=[entity(score=value)]) for value in ["0.5", True, [1], {}, float("nan"), 2]],
    *[line(sentences=[sentence(start=value)]) for value in [0.0, False, "0", None]],
    *[line(sentences=[sentence(tokens=[[0, value]])]) for value in [4.0, True, "4"]],
    *[line(sentences=[sentence(heads=[value, -1])]) for value in [True, 1.0, "1"]],
    *[line(sentences=[sentence(relations=["a", value])]) for value in [1, None, []]],
    line(id=""),
    line(id=7),
    '{"id": "d", "text": "x", "entities": [{"label": "A", "fragments": [[0, ' + "9" * 5000 + "]]}]}",
    line(extras={"x": None}).replace("null", "[" * 500 + "]" * 500),
    line(entities=["x"]).replace('"x"', "[" * 500 + "]" * 500),
]


@pytest.mark.parametrize("bad", WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_native_values_of_the_wrong_type_are_errors_with_file_and_line(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(id="c") + "\n" + bad + "\n")
    with pytest.raises(BadInput, match=r"a\.jsonl, line 2") as caught:
        list(read(path, "jsonl"))
    assert "\n" not in str(caught.value)
    ledger = Ledger(skip_bad=True)
    documents = list(read(path, "jsonl", ledger))
    assert ledger.errors.total() == 1
    for name in ("b.xml", "b.bio", "b.parquet", "b"):
        write(documents, tmp_path / name, None)  # whatever was read can be written


def test_fields_that_are_not_read_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(patient="p1", entities=[entity(start=0, end=4, text="some", kind="regular", colour="red")]))
    ledger = Ledger()
    assert len(list(read(path, None, ledger))) == 1
    assert ledger.losses == {UNKNOWN_FIELDS: 2}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.conllu", "9" * 5000 + "\tx" + "\t_" * 8 + "\n"),
        ("a.conllu", "1\tx\t_\t_\t_\t_\t" + "9" * 5000 + "\tdep\t_\t_\n"),
        ("a.inline", "some pain\n0," + "9" * 5000 + " A\n\n"),
    ],
)
def test_numbers_without_end(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=r"line \d"):
        list(read(tmp_path / name, {".conllu": "conllu", ".inline": "inline"}[Path(name).suffix]))


@pytest.mark.parametrize(
    "format",
    ["bioc-json", "pubannotation", "bigbio", "w2ner", "dygie", "label-studio", "doccano", "prodigy", "cas-json"],
)
def test_nesting_without_end(tmp_path: Path, format: str) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"infons": ' + '{"a":' * 900 + "1" + "}" * 900 + "}")
    with pytest.raises(BadInput, match="nested too deeply"):
        list(read(path, format))


def test_parquet_with_broken_utf8_loses_that_row_only(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    write([Document("a", "good"), Document("b", "marker-marker"), Document("c", "good")], path)
    content = path.read_bytes()
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(path)
    texts = pa.Array.from_buffers(
        pa.string(), 3, [None, *pa.array([b"good", b"bad \xff", b"good"], pa.binary()).buffers()[1:]]
    )
    parquet.write_table(table.set_column(1, "text", texts), path)
    assert path.read_bytes() != content
    with pytest.raises(BadInput, match=r"row 2: A string of this row is not UTF-8"):
        list(read(path))
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(path, None, ledger)] == ["a", "c"]
    assert ledger.errors == {"bad-encoding": 1}


def test_ids_too_long_for_a_file_name_are_shortened_and_counted(tmp_path: Path) -> None:
    documents = [Document(f"x/{'é' * 300}{last}/y", TEXT, (Entity("A", ((0, 4),), "T1"),)) for last in "ab"]
    ledger = Ledger()
    write(documents, tmp_path / "brat", "brat", ledger)
    assert ledger.losses == {SHORTENED: 2}
    back = list(read(tmp_path / "brat"))
    assert len({document.id for document in back}) == 2
    assert [document.entities for document in back] == [document.entities for document in documents]
    write(documents, tmp_path / "pub", "pubannotation")
    assert {document.id for document in read(tmp_path / "pub")} == {document.id for document in documents}


def test_a_document_that_needs_the_file_of_another_as_a_folder(tmp_path: Path) -> None:
    documents = [Document("a", "x"), Document("a.txt/b", "y")]
    with pytest.raises(BadInput, match="written to the same file"):
        write(documents, tmp_path / "brat", "brat")
    ledger = Ledger(skip_bad=True)
    write(documents, tmp_path / "brat", "brat", ledger)
    assert ledger.errors == {"duplicate-id": 1}


@pytest.mark.parametrize("name", ["a.jsonl", "a.xml", "a.parquet"])
def test_an_empty_id_is_none_whatever_the_format(tmp_path: Path, name: str) -> None:
    """Found by a campaign: BioC gives it back as none, so nothing may be changed without a count."""
    source = tmp_path / "source.jsonl"
    source.write_text(line(entities=[entity(id="")]))
    documents = list(read(source))
    assert documents[0].entities == (Entity("A", ((0, 4),)),)
    write(documents, tmp_path / name)
    assert next(iter(read(tmp_path / name))).entities[0].id is None
