from __future__ import annotations

import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import BadInput, DisconerError, Document, Entity, Ledger, read, write
from disconer.formats.brat.files import annotation_text
from disconer.formats.native import from_record, to_record
from strategies import documents, tokenised_documents

GOLDEN = Path(__file__).parent / "golden" / "brat"


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix in (".txt", ".ann")
    }


def through_json(document: Document) -> Document:
    return from_record(json.loads(json.dumps(to_record(document))), ledger=Ledger(), path="")


def test_golden_folder_comes_back_byte_for_byte(tmp_path: Path) -> None:
    write(read(GOLDEN), tmp_path / "a.jsonl")
    ledger = Ledger()
    write(read(tmp_path / "a.jsonl"), tmp_path / "out", ledger=ledger)
    assert files(tmp_path / "out") == files(GOLDEN)
    assert not ledger.losses


@given(document=documents() | tokenised_documents())
def test_documents_of_any_origin_keep_text_and_entities(document: Document) -> None:
    with TemporaryDirectory() as folder:
        write([document], Path(folder, "out"))
        (found,) = read(Path(folder, "out"))
    assert (found.id, found.text) == (document.id, document.text)
    assert [(entity.id, entity.key) for entity in found.entities] == [(e.id, e.key) for e in document.entities]
    assert not found.extras


# What may stand in a line of a .ann that is not a T line: what brat writes, and any nonsense.
other_lines = st.sampled_from(
    [
        "R1\tr Arg1:T1 Arg2:T2\t",
        "E1\te:T1 ",
        "*\tOR T1 T2",
        "#1\tn T9\tx",
        "A1\tNegated T1",
        "N1",
        "*",
        "\t",
        " T1\tX 0 1\ta",
    ]
) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=9).filter(
    lambda s: s[:1] != "T"
)


@st.composite
def ann_files(draw: st.DrawFn) -> tuple[str, str]:
    """A text and annotations of it, in which T lines are irregular."""
    document = draw(documents())
    lines = []
    for entity in document.entities:
        pairs = draw(st.permutations(entity.fragments))
        offsets = ";".join(f"{start} {end}" for start, end in pairs)
        surface = " ".join(document.text[start:end] for start, end in pairs).replace("\n", " ")
        lines += [*draw(st.lists(other_lines, max_size=2)), f"{entity.id}\t{entity.label} {offsets}\t{surface}"]
    lines += draw(st.lists(other_lines, max_size=2))
    return document.text, draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@given(sample=ann_files())
def test_any_annotations_come_back_byte_for_byte(sample: tuple[str, str]) -> None:
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        source.mkdir()
        for suffix, content in zip((".txt", ".ann"), sample, strict=True):
            (source / f"d{suffix}").write_bytes(content.encode())
        write([through_json(document) for document in read(source)], target)
        assert files(target) == files(source)


@pytest.mark.parametrize(("archive", "n_documents"), [("chia/chia_without_scope.zip", 2000), ("phee/phee.zip", 4827)])
def test_corpora_come_back_byte_for_byte(data: Path, archive: str, n_documents: int) -> None:
    ledger = Ledger()
    packed = zipfile.ZipFile(data / archive)
    found = list(read(data / archive, ledger=ledger))
    assert len(found) == n_documents
    assert not ledger.errors
    for document in map(through_json, found):
        assert document.text.encode() == packed.read(f"{document.id}.txt")
        assert annotation_text(document, ledger).encode() == packed.read(f"{document.id}.ann")
    assert not ledger.losses


def golden(name: str = "kinds") -> Document:
    (document,) = read(GOLDEN / f"{name}.ann")
    return document


def without(document: Document, *ids: str) -> Document:
    return document.replace(entities=tuple(entity for entity in document.entities if entity.id not in ids))


def test_lines_about_a_removed_entity_go_with_it_and_are_counted() -> None:
    ledger = Ledger()
    lines = annotation_text(without(golden(), "T1"), ledger).split("\n")
    gone = {line.split("\t")[0] for line in (GOLDEN / "kinds.ann").read_text().split("\n")} - {
        line.split("\t")[0] for line in lines
    }
    assert gone == {"T1", "R1", "E1", "M1", "A2", "*"}  # M1 and A2 say something of E1
    assert ledger.losses == {"brat lines about removed entities": 5}


def test_an_equivalence_loses_a_member_and_goes_when_one_is_left() -> None:
    document = Document(
        "d", "a b c", tuple(Entity("X", ((place, place + 1),), f"T{place}") for place in (0, 2, 4)),
        extras={"brat": {"lines": ["*\tOR T0 T2 T4", "T0", "T2", "T4", ""]}},
    )  # fmt: skip
    assert annotation_text(without(document, "T2"), Ledger()).startswith("*\tOR T0 T4\nT0\t")
    assert annotation_text(without(document, "T0", "T2"), Ledger()) == "T4\tX 4 5\tc\n"


def test_lines_about_a_skipped_entity_are_counted_as_lost(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("some pain")
    bad = ["T2\tADR 5 99\tpain", "T3\tADR five 9\tpain"]
    about = ["R1\tr Arg1:T1 Arg2:T2", "A1\tNegated T3"]
    (tmp_path / "d.ann").write_text("\n".join(["T1\tADR 5 9\tpain", *bad, *about, ""]))
    ledger = Ledger(skip_bad=True)
    (document,) = read(tmp_path, ledger=ledger)
    assert annotation_text(document, ledger) == "T1\tADR 5 9\tpain\n"
    assert ledger.losses == {"brat lines about removed entities": 2}


def test_references_to_what_never_was_there_stay(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("pain")
    (tmp_path / "d.ann").write_text("T1\tADR 0 4\tpain\nR1\tr Arg1:T1 Arg2:T8\n")
    (document,) = read(tmp_path)
    assert annotation_text(document, Ledger()).endswith("R1\tr Arg1:T1 Arg2:T8\n")
    added = document.replace(entities=(*document.entities, Entity("ADR", ((0, 2),))))
    assert annotation_text(added, Ledger()).endswith("R1\tr Arg1:T1 Arg2:T8\nT9\tADR 0 2\tpa\n")


def test_changed_entities_get_a_new_line_in_the_old_place() -> None:
    document = golden()
    changed = tuple(Entity("Symptom", entity.fragments, entity.id) for entity in document.entities)
    lines = annotation_text(document.replace(entities=changed), Ledger()).split("\n")
    assert lines[:2] == ["T1\tSymptom 0 11;19 24\tSevere pain knees", "T2\tSymptom 0 11;29 34\tSevere pain hands"]
    assert len(lines) == len(document.extras["brat"]["lines"])


def test_ids_that_brat_cannot_use_are_replaced_in_order() -> None:
    ids = (None, "T3", "e-7", "T3", "T2x")
    document = Document("d", "pain", tuple(Entity("ADR", ((0, 4),), id) for id in ids))
    written = annotation_text(document, Ledger()).splitlines()
    assert [line.split("\t")[0] for line in written] == ["T4", "T3", "T5", "T6", "T2x"]


def test_spaces_in_labels_are_written_as_underscores_and_counted() -> None:
    ledger = Ledger()
    document = Document("d", "pain", (Entity("Adverse  drug\treaction", ((0, 4),)),))
    assert annotation_text(document, ledger) == "T1\tAdverse_drug_reaction 0 4\tpain\n"
    assert ledger.losses == {"spaces in labels": 1}


@pytest.mark.parametrize(
    ("problem", "document"),
    [
        ("unsafe-path", Document("../d", "x")),
        ("unsafe-path", Document("/d", "x")),
        ("unsafe-path", Document("a/.d", "x")),
        ("unsafe-path", Document("a//d", "x")),
        ("unsafe-path", Document("a/", "x")),
        ("unsafe-path", Document("\ud800", "x")),
        ("bad-encoding", Document("d", "x\ud800")),
        ("duplicate-id", Document("c", "x")),
        ("bad-syntax", Document("d", "x", extras={"brat": {"lines": "T1"}})),
        ("bad-syntax", Document("d", "x", extras={"brat": ["T1"]})),
    ],
)
def test_documents_that_cannot_be_written_leave_nothing_or_are_skipped(
    tmp_path: Path, problem: str, document: Document
) -> None:
    with pytest.raises(BadInput) as caught:
        write([Document("c", "x"), document], tmp_path / "out")
    assert caught.value.problem == problem
    assert not list(tmp_path.iterdir())
    ledger = Ledger(skip_bad=True)
    write([Document("c", "x"), document], tmp_path / "out", ledger=ledger)
    assert files(tmp_path / "out") == {"c.txt": b"x", "c.ann": b""}
    assert ledger.errors == {problem: 1}


def test_a_file_name_is_refused_as_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="Name a folder"):
        write([golden()], tmp_path / "out.ann", "brat")
