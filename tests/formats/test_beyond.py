"""Relations, attributes and normalisations pass from each format that has them to the others, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer import Document, Entity, Ledger, read, write
from disconer.formats.beyond import NORMALISED_TEXTS, ROLES
from disconer.formats.brat.files import OTHER_IDS
from disconer.formats.extras import REPEATED_IDS
from round_trips import through

TEXT = "severe pain after aspirin"
ANNOTATIONS = """\
T1\tADR 0 11\tsevere pain
T2\tDrug 18 25\taspirin
R1\tCauses Arg1:T2 Arg2:T1
A1\tNegation T1
A2\tCertainty T1 High
N1\tReference T2 RxNorm:1191\t
N2\tReference T2 MESH:D001241\t
"""
FORMATS = [("a.xml", "bioc-xml"), ("a.json", "bioc-json"), ("a.json", "pubannotation"), ("a.jsonl", "bigbio")]


def brat(folder: Path, annotations: str = ANNOTATIONS) -> Path:
    folder.mkdir()
    (folder / "d.txt").write_text(TEXT)
    (folder / "d.ann").write_text(annotations)
    return folder


def lines(folder: Path) -> list[str]:
    return sorted((folder / "d.ann").read_text().splitlines())


@pytest.mark.parametrize(("name", "format"), FORMATS)
def test_from_brat_and_back(tmp_path: Path, name: str, format: str) -> None:
    documents, ledger = through(read(brat(tmp_path / "in")), name, format)
    holds_attributes = format != "bigbio"
    assert ledger.losses == ({} if holds_attributes else {"brat attributes": 2})
    ledger = Ledger()
    write(documents, tmp_path / "out", "brat", ledger)
    expected = [line for line in ANNOTATIONS.splitlines() if holds_attributes or not line.startswith("A")]
    assert lines(tmp_path / "out") == sorted(expected)
    assert not ledger.losses


@pytest.mark.parametrize("way", [("bioc-json", "pubannotation", "bioc-xml"), ("pubannotation", "bioc-json")])
def test_through_several_formats(tmp_path: Path, way: tuple[str, ...]) -> None:
    documents = list(read(brat(tmp_path / "in")))
    for format in way:
        documents, ledger = through(documents, "a.xml" if format == "bioc-xml" else "a.json", format)
        assert not ledger.losses
    write(documents, tmp_path / "out", "brat")
    assert lines(tmp_path / "out") == sorted(ANNOTATIONS.splitlines())


def test_what_has_no_place_is_counted(tmp_path: Path) -> None:
    annotations = (
        "T1\tADR 0 11\tsevere pain\nT2\tDrug 18 25\taspirin\n"
        "R1\tCauses Cause:T2 Effect:T1\nE1\tADR:T1\n#1\tNote T1\tx\n"
        "N1\tReference T2 RxNorm:1191\tacetylsalicylic acid\nA1\tNegation E1\nA2\ttype T1 x\n"
    )
    documents = list(read(brat(tmp_path / "in", annotations)))
    _, ledger = through(documents, "a.json", "bioc-json")
    assert ledger.losses == {
        "brat events": 1,
        "brat notes": 1,
        "brat attributes": 1,
        NORMALISED_TEXTS: 1,
        "attributes whose name is taken": 1,
    }
    _, ledger = through(documents, "a.json", "pubannotation")
    assert ledger.losses == {"brat events": 1, "brat notes": 1, "brat attributes": 1, NORMALISED_TEXTS: 1, ROLES: 1}


def test_ids_that_brat_cannot_hold_are_replaced_also_in_relations(tmp_path: Path) -> None:
    entities = (Entity("ADR", ((0, 11),), "x"), Entity("Drug", ((18, 25),), "y"))
    relation = {"id": "r", "type": "Causes", "arg1_id": "y", "arg2_id": "x", "normalized": []}
    ledger = Ledger()
    write([Document("d", TEXT, entities, extras={"bigbio": {"relations": [relation]}})], tmp_path / "out", None, ledger)
    assert lines(tmp_path / "out")[0] == "R1\tCauses Arg1:T2 Arg2:T1"
    assert ledger.losses == {OTHER_IDS: 2}


@pytest.mark.parametrize(("name", "format"), FORMATS)
def test_repeated_ids_are_made_unique_and_counted(name: str, format: str) -> None:
    entities = tuple(Entity("A", ((place, place + 1),), "T1") for place in range(3))
    documents, ledger = through([Document("d", "abc", entities)], name, format)
    assert [entity.id for entity in documents[0].entities] == ["T1", "T1-2", "T1-3"]
    assert [entity.key for entity in documents[0].entities] == [entity.key for entity in entities]
    assert ledger.repairs == {REPEATED_IDS: 2}
