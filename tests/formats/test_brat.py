from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from disconer import BadInput, Document, Ledger, read
from disconer.formats import format_for, sniff
from disconer.formats.source import Source

GOLDEN = Path(__file__).parent / "golden" / "brat"


def pair(folder: Path, text: str, ann: str, name: str = "d") -> Path:
    """A folder with one document."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes(ann.encode())
    return folder


def mentions(document: Document) -> list[tuple[str | None, str, str]]:
    return [(entity.id, entity.label, entity.text) for entity in document.entities]


def test_golden_folder_reads_as_golden_jsonl() -> None:
    assert list(read(GOLDEN)) == list(read(GOLDEN.with_suffix(".jsonl")))


def test_zip_reads_as_its_folder(tmp_path: Path) -> None:
    archive = tmp_path / "golden.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in GOLDEN.rglob("*"):
            packed.write(path, Path(".", path.relative_to(GOLDEN)))
    assert list(read(archive)) == list(read(GOLDEN))


@pytest.mark.parametrize("name", ["kinds.ann", "kinds.txt"])
def test_either_file_of_a_document_brings_the_other(name: str) -> None:
    (document,) = read(GOLDEN / name)
    assert document.id == "kinds"
    assert len(document.entities) == 6


def test_fragments_are_normalised_and_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    ann = "T1\tADR 9 14;0 4\tknees pain\nT2\tADR 0 2;1 4\tpa ain\nT3\tADR 0 2;2 4\tpa in\nT4\tADR 5 8;9 14\tin\tknees\n"
    (document,) = read(pair(tmp_path / "a", "pain in\n knees", ann), ledger=ledger)
    assert [entity.fragments for entity in document.entities] == [((0, 4), (9, 14)), ((0, 4),), ((0, 4),), ((5, 14),)]
    assert ledger.repairs == {
        "fragments out of order": 1,
        "fragments overlapping": 1,
        "fragments touching": 1,
        "fragments split at whitespace": 1,
    }


def test_a1_and_a2_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("p53 binds")
    (tmp_path / "d.a1").write_text("T1\tProtein 0 3\tp53\n")
    (tmp_path / "d.a2").write_text("T2\tBinding 4 9\tbinds\nE1\tBinding:T2 Theme:T1\n")
    (document,) = read(tmp_path)
    assert mentions(document) == [("T1", "Protein", "p53"), ("T2", "Binding", "binds")]
    assert document.extras == {"brat": {"lines": ["T1", "T2", "E1\tBinding:T2 Theme:T1", ""]}}


GOOD = "T1\tADR 5 9\tpain\n"
BAD = [
    ("bad-offset", "T2\tADR 5 99\tpain"),
    ("bad-offset", "T2\tADR 9 5\tpain"),
    ("empty-fragment", "T2\tADR 5 5\t"),
    ("empty-fragment", "T2\tADR 4 5\t "),
    ("text-mismatch", "T2\tADR 0 4\tpain"),
    ("text-mismatch", "T2\tADR 0 9\tmild pain"),
    ("duplicate-id", "T1\tADR 0 4\tsome"),
    ("bad-syntax", "T2 ADR 5 9 pain"),
    ("bad-syntax", "T2\tADR five 9\tpain"),
    ("bad-syntax", "T2\tADR 5.0 9\tpain"),
    ("bad-syntax", "T2\tADR -5 9\tpain"),
    ("bad-syntax", "T2\tADR 5\tpain"),
    ("bad-syntax", "T2\tADR 5 9 12 14\tpain"),
    ("bad-syntax", "T2\tADR 5 9"),
    ("bad-syntax", "T2\tADR 5 9;\tpain"),
    ("bad-syntax", f"T2\tADR 5 {'9' * 5000}\tpain"),
    ("bad-syntax", "T"),
]


@pytest.mark.parametrize(("problem", "bad"), BAD)
def test_bad_lines_stop_with_place_or_are_skipped_and_counted(tmp_path: Path, problem: str, bad: str) -> None:
    folder = pair(tmp_path / "a", "some pain", f"#1\tnote T1\n{GOOD}{bad}\n")
    with pytest.raises(BadInput) as caught:
        list(read(folder))
    assert caught.value.problem == problem
    assert str(caught.value).startswith(f"{folder / 'd.ann'}, line 3")
    ledger = Ledger(skip_bad=True)
    (document,) = read(folder, ledger=ledger)
    assert mentions(document) == [("T1", "ADR", "pain")]
    assert ledger.errors == {problem: 1}


def test_whitespace_in_place_of_tabs_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Separate the fields by tabs"):
        list(read(pair(tmp_path / "a", "some pain", "T1  ADR  5 9  pain")))


@pytest.mark.parametrize(
    ("text", "ann", "advice"),
    [
        ("\ufeffsome pain", GOOD, "byte order mark at the start of the text is not counted"),
        ("some pain", "T1\tADR 6 10\tpain\n", "they count from 1, or the text lost its byte order mark"),
        ("some pain.", "T1\tADR 6 10\tpain\nT2\tADR 7 9\tno\n", "Check that the text is the one that was annotated"),
        ("a\r\nb\r\npain", "T1\tADR 4 8\tpain\n", "each CR LF is one character"),
        ("a\nb\npain", "T1\tADR 6 10\tpain\n", "each line ends in CR LF"),
        ("éé pain", "T1\tADR 5 9\tpain\n", "bytes of UTF-8"),
        ("😀😀 pain", "T1\tADR 5 9\tpain\n", "UTF-16"),
    ],
)
def test_offsets_counted_otherwise_are_explained(tmp_path: Path, text: str, ann: str, advice: str) -> None:
    with pytest.raises(BadInput, match=advice):
        list(read(pair(tmp_path / "a", text, ann)))


def test_a_label_with_spaces_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Labels cannot have spaces in brat: write Adverse_Event"):
        list(read(pair(tmp_path / "a", "some pain", "T1\tAdverse Event 5 9\tpain")))


CUT, REPLACED = "surface texts cut at a line break", "surface texts with a label inserted by search and replace"
HARMLESS = [
    (CUT, "mild pain\r\nin knees", "T1\tADR 0 19\tmild pain\n"),
    (CUT, "mild pain\r\nin knees", "T1\tADR 0 10;11 19\tmild pain\n"),
    (
        "surface texts with a label inserted by search and replace",
        "the Sex Ratio",
        "T1\tX 4 13\tY Ratio\nT2\tY 0 3\tthe\n",
    ),
]


@pytest.mark.parametrize(("what", "text", "ann"), HARMLESS)
def test_texts_damaged_in_known_ways_are_taken_and_counted(tmp_path: Path, what: str, text: str, ann: str) -> None:
    ledger = Ledger()
    (document,) = read(pair(tmp_path / "a", text, ann), ledger=ledger)
    assert document.entities[0].fragments == ((int(ann.split()[2]), len(text)),)
    assert ledger.repairs[what] == 1


@pytest.mark.parametrize(("left", "missing"), [("kinds.txt", ".ann"), ("kinds.ann", ".txt")])
def test_missing_partner_is_an_error(tmp_path: Path, left: str, missing: str) -> None:
    pair(tmp_path, "some pain", GOOD)
    (tmp_path / left).write_bytes((GOLDEN / left).read_bytes())
    with pytest.raises(BadInput, match=rf"{left}: The {missing} file of this document is missing.*kinds{missing}"):
        list(read(tmp_path))
    ledger = Ledger(skip_bad=True)
    assert [document.id for document in read(tmp_path, ledger=ledger)] == ["d"]
    assert ledger.errors == {"missing-file": 1}


def test_unrelated_files_are_passed_over(tmp_path: Path) -> None:
    pair(tmp_path / "train", "some pain", GOOD)
    for name in ("README.txt", "train/annotation.conf", "train/LICENSE", "train/.stats"):
        (tmp_path / name).write_text("x")
    assert [document.id for document in read(tmp_path)] == ["train/d"]


def test_broken_utf8_is_skipped_with_its_document(tmp_path: Path) -> None:
    pair(tmp_path, "some pain", GOOD)
    pair(tmp_path, "some pain", GOOD, "e")
    (tmp_path / "d.txt").write_bytes(b"some\npa\xefn")
    with pytest.raises(BadInput, match=r"d\.txt, line 2.*0xef at byte 7"):
        list(read(tmp_path))
    assert [document.id for document in read(tmp_path, ledger=Ledger(skip_bad=True))] == ["e"]


def test_a_folder_with_annotations_is_brat_and_a_path_without_suffix_becomes_it(tmp_path: Path) -> None:
    pair(tmp_path, "some pain", "", "b")
    (tmp_path / "a.txt").write_text("first by name, and plain text")
    assert sniff(Source(tmp_path)).name == "brat"
    assert format_for(tmp_path / "out").name == "brat"
