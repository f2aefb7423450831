"""Which format a name or a content stands for."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from disconer import DisconerError, Document, Entity, Ledger, read, write
from disconer.core.errors import DisconerWarning
from disconer.formats import FORMATS, NOT_READ, format_for, format_named


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.jsonl", "jsonl"),
        ("a.JSONL.gz", "jsonl"),
        ("a.xml", "bioc-xml"),
        ("a.conllu", "conllu"),
        ("a.inline", "inline"),
        ("a.bioes", "bioes"),
        ("a.parquet", "parquet"),
        ("folder", "brat"),
    ],
)
def test_a_suffix_that_only_one_format_can_mean_is_enough(name: str, format: str) -> None:
    assert format_for(Path(name)).name == format


@pytest.mark.parametrize(("name", "offered"), [("a.json", "w2ner"), ("a.txt", "inline"), ("a.nix", "brat")])
def test_a_suffix_that_does_not_tell_gets_the_choice(name: str, offered: str) -> None:
    with pytest.raises(DisconerError, match=rf"--to: .*{offered}"):
        format_for(Path(name))


def test_every_format_is_found_by_its_name() -> None:
    assert [format_named(name).name for name in FORMATS.names()] == list(FORMATS.names())
    with pytest.raises(DisconerError, match="brat"):
        format_named("barat")


NEEDS = {"docbin": "spacy", "parquet": "pyarrow"}
WRITABLE = [
    name
    for name in FORMATS.names()
    if format_named(name).write and format_named(name).is_readable and (name not in NEEDS or find_spec(NEEDS[name]))
]


@pytest.mark.parametrize("name", WRITABLE)
def test_what_a_format_writes_is_recognised_as_it(name: str, tmp_path: Path) -> None:
    format = format_named(name)
    path = tmp_path / ("out" if format.writes_folder else f"out{format.suffixes[0]}")
    write([Document("d1", "some pain here"), Document("d2", "no more")], path, name)
    documents = list(read(path))
    expected = list(read(path, name))
    assert documents == expected
    assert len(documents) == 2


def test_a_format_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="can only be read, not written"):
        write([], tmp_path / "a.conllu", "conllu")


@pytest.mark.parametrize(
    "given", [Document("d", "abc"), "abc", [{"id": "d", "text": "abc"}]], ids=["one", "str", "dict"]
)
def test_only_documents_are_written(given: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="write takes an iterable of documents, got"):
        write(given, tmp_path / "out.jsonl")
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path) -> None:
    def documents():  # type: ignore[no-untyped-def]
        yield Document("d1", "text")
        raise DisconerError("broken on the way")

    for name in WRITABLE:
        with pytest.raises(DisconerError, match="broken on the way"):
            write(documents(), tmp_path / name, name)
    assert list(tmp_path.iterdir()) == []


def test_the_same_split_in_two_formats_is_said(tmp_path: Path) -> None:
    documents = [Document("d", "some pain", (Entity("A", ((5, 9),)),))]
    write(documents, tmp_path / "train.jsonl")
    write(documents, tmp_path / "train.inline.txt", "inline")
    ledger = Ledger()
    with pytest.warns(DisconerWarning, match=r"read as inline; .* left out: train\.jsonl \(jsonl\)\. To read"):
        assert [document.id for document in read(tmp_path, None, ledger)] == ["train.inline-1"]
    assert ledger.losses == {NOT_READ: 1}


def test_what_exists_is_overwritten_on_request_by_command_or_in_python(tmp_path: Path) -> None:
    write([Document("d", "pain")], tmp_path / "a.jsonl")
    with pytest.raises(DisconerError, match=r"overwrite it \(--force, in Python force=True\)"):
        write([Document("d", "more")], tmp_path / "a.jsonl")
    write([Document("d", "more")], tmp_path / "a.jsonl", force=True)
    assert [document.text for document in read(tmp_path / "a.jsonl")] == ["more"]


def test_the_same_documents_of_two_annotators_get_the_advice_to_compare_them(tmp_path: Path) -> None:
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "d", "text": "pain", "label": []}\n')
    with pytest.raises(
        DisconerError,
        match=r"ben\.jsonl, document 'd': Two documents have the same id\. Got another one in \S*anna\.jsonl\. "
        r"Rename .* by several people .*agree A B",
    ):
        list(read(tmp_path))


def test_two_documents_of_one_file_are_not_said_to_be_of_two(tmp_path: Path) -> None:
    for name, ids in (("a", "x"), ("b", "yzy"), ("c", "xz")):
        lines = [f'{{"id": "{id}", "text": "pain"}}\n' for id in ids]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(tmp_path, None, ledger)] == ["x", "y", "z"]
    said = [(Path(error.where.path or "").name, error.got) for error in ledger.examples if error.where]
    others = [f"another one in {tmp_path / name}" for name in ("a.jsonl", "b.jsonl")]
    assert said == [("b.jsonl", None), ("c.jsonl", others[0]), ("c.jsonl", others[1])]


@pytest.mark.parametrize("name", WRITABLE)
def test_two_documents_with_one_id_are_not_written(name: str, tmp_path: Path) -> None:
    format = format_named(name)
    path = tmp_path / ("out" if format.writes_folder else f"out{format.suffixes[0]}")
    twice = [Document("d", "some pain here"), Document("d", "no more")]
    with pytest.raises(DisconerError, match="same id"):
        write(twice, path, name)
    assert not path.exists()
    ledger = Ledger(skip_bad=True)
    write(twice, path, name, ledger)
    assert [document.text.split() for document in read(path, name)] == [["some", "pain", "here"]]
    assert ledger.errors == {"duplicate-id": 1}


def test_empty_input_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.jsonl").touch()
    for path in (tmp_path / "folder", tmp_path / "a.jsonl"):
        with pytest.raises(DisconerError, match="There is nothing to read here"):
            read(path)
