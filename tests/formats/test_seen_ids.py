from __future__ import annotations

from importlib.util import find_spec

import pytest

from disconer import Document, Entity
from disconer.formats.seen_ids import ALIKE, SeenIds
from round_trips import through

NEEDS = {"docbin": "spacy", "parquet": "pyarrow"}
HALVES = [("a\ud800", "a\ud801"), ("a\ufffd", "a\ud800")]
CONTROLS = [("a\0", "a\1"), ("a\ufffe", "a\uffff")]
SPACES = [("a\x0b", "a\x0c")]
BREAKS = [("a\r\nb", "a\nb"), ("a\t", "a\n"), ("a_b", "a\nb")]
FORMATS = {
    "jsonl": "a.jsonl",
    "docbin": "a.spacy",
    "parquet": "a.parquet",
    "bioc-xml": "a.xml",
    "bioc-json": "a.json",
    "pubannotation": "a.jsonl",
    "bigbio": "a.json",
    "label-studio": "a.json",
    "doccano": "a.jsonl",
    "prodigy": "a.jsonl",
    "dygie": "a.jsonl",
    "w2ner": "a.json",
    "bio": "a.bio",
    "bioes": "a.bioes",
    "biohd": "a.biohd",
}
REPLACES = {
    **dict.fromkeys(("docbin", "parquet"), HALVES),
    "bioc-xml": HALVES + CONTROLS + SPACES,
    **dict.fromkeys(("bio", "bioes", "biohd"), HALVES + SPACES + BREAKS),
}


def test_every_id_is_new_once() -> None:
    ids = SeenIds()
    names = [f"doc{number}" for number in range(5000)]
    assert all(ids.add(name) for name in names)
    assert not any(ids.add(name) for name in names)
    assert all(name in ids for name in names)
    assert "doc5000" not in ids


def test_an_id_keeps_its_first_place() -> None:
    ids = SeenIds()
    for number in range(5000):
        ids.add(f"doc{number}", number % 7)
    ids.add("doc8", 5)
    assert [ids.place(f"doc{number}") for number in range(5000)] == [number % 7 for number in range(5000)]


@pytest.mark.parametrize("ids", HALVES + CONTROLS + SPACES + BREAKS)
@pytest.mark.parametrize("format", FORMATS)
def test_ids_that_a_format_makes_alike_stay_two(format: str, ids: tuple[str, str]) -> None:
    if format in NEEDS and not find_spec(NEEDS[format]):
        pytest.skip(f"needs {NEEDS[format]}")
    given = [Document(id, "some pain", (Entity("A", ((5, 9),)),)) for id in ids]
    found, ledger = through(given, FORMATS[format], format)
    assert [[one.key for one in document.entities] for document in found] == [[("A", ((5, 9),))]] * 2
    if ids not in REPLACES.get(format, ()):
        assert [document.id for document in found] == list(ids)
        assert ALIKE not in ledger.repairs
    else:
        assert found[1].id == f"{found[0].id}-2"
        assert ledger.repairs == {ALIKE: 1}
        assert ledger.losses


def test_a_name_that_is_taken_is_not_given_again() -> None:
    found, ledger = through([Document(id, "pain") for id in ("a_b", "a_b-2", "a\nb", "a\tb")], "a.bio", "bio")
    assert [document.id for document in found] == ["a_b", "a_b-2", "a_b-3", "a_b-4"]
    assert ledger.repairs == {ALIKE: 2}
