from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Ledger
from disconer.core.corpus import Corpus
from disconer.core.types import Document, Kind
from disconer.corpora import recipe_named
from disconer.corpora.recipe import SPLITS, split_ids

# Three posts with what is odd in the real ones: fragments out of order, a mention cut inside a word, one whose text
# differs from the text at its offsets, notes, all five types.
TRAIN, DEV, TEST = (split_ids("cadec", split)[0] for split in SPLITS)
POSTS = {
    TRAIN: (
        "Severe pain in legs and feet.\nTook Lipitor for cholesterol.\n",
        "T1\tADR 0 19\tSevere pain in legs\n"
        "#1\tAnnotatorNotes T1\t10013649 | Pain in legs\n"
        "T2\tADR 24 28;0 14\tfeet Severe pain in\n"
        "T3\tDrug 35 42\tLipitor\n"
        "T4\tDisease 47 58\tcholesterol\n",
    ),
    DEV: ("numbness, hair loss\n", "T1\tADR 0 7\tnumbness\nT2\tADR 10 19\thair loss\n"),
    TEST: ("no side effects", ""),
}


def distribution(
    path: Path, posts: Mapping[str, tuple[str, str]] = POSTS, leave_out: str | None = None, root: str = "cadec/"
) -> Path:
    """A zip in the layout of CADEC v2, with a post for every id of the splits."""
    everything = {id: ("fine", "") for split in SPLITS for id in split_ids("cadec", split)} | dict(posts)
    with zipfile.ZipFile(path, "w") as archive:
        for id, (text, annotations) in everything.items():
            archive.writestr(f"{root}text/{id}.txt", text)
            archive.writestr(f"{root}sct/{id}.ann", "TT1\t22253000 | Pain | 0 4\tpain\n")
            if id != leave_out:
                archive.writestr(f"{root}original/{id}.ann", annotations)
        archive.writestr("__MACOSX/cadec/text/._ARTHROTEC.1.txt", b"\x00\xff")
        archive.writestr("CADEC readme.rtf", "")
    return path


def build(source: Path, ledger: Ledger | None = None, types: str = "ADR") -> Corpus:
    return recipe_named("cadec").build(source, {"types": types}, ledger or Ledger())


def find(corpus: Corpus, split: str, id: str) -> Document:
    return next(document for document in corpus[split] if document.id == id)


def test_the_literatures_split_and_adr_only(tmp_path: Path) -> None:
    corpus = build(distribution(tmp_path / "CADEC.v2.zip"))
    assert [len(corpus[split]) for split in SPLITS] == [875, 187, 188]
    document = find(corpus, "train", TRAIN)
    assert [(entity.label, entity.text, entity.kind) for entity in document.entities] == [
        ("ADR", "Severe pain in legs", Kind.OVERLAPPED),
        ("ADR", "Severe pain in feet", Kind.DISCONTINUOUS),
    ]


def test_a_sentence_is_a_line_of_letter_and_digit_tokens(tmp_path: Path) -> None:
    document = find(build(distribution(tmp_path / "c.zip")), "train", TRAIN)
    words = [[document.text[start:end] for start, end in sentence.tokens] for sentence in document.sentences or ()]
    assert words == [
        ["Severe", "pain", "in", "legs", "and", "feet", "."],
        ["Took", "Lipitor", "for", "cholesterol", "."],
    ]


def test_all_types(tmp_path: Path) -> None:
    document = find(build(distribution(tmp_path / "c.zip"), types="all"), "train", TRAIN)
    assert [entity.label for entity in document.entities] == ["ADR", "ADR", "Drug", "Disease"]


def test_oddities_of_the_real_files_are_repaired_and_counted(tmp_path: Path) -> None:
    ledger = Ledger()
    corpus = build(distribution(tmp_path / "c.zip"), ledger)
    assert [entity.text for entity in find(corpus, "dev", DEV).entities] == ["numbness", "hair loss"]
    assert ledger.repairs == {
        "fragments out of order": 1,
        "mention texts replaced by the text at their offsets": 1,
        "mentions expanded to word boundaries": 1,
    }


def test_crlf_texts_have_the_offsets_of_lf(tmp_path: Path) -> None:
    posts = {DEV: ("one\r\nhair loss", "T1\tADR 4 13\thair loss\r\n")}
    document = find(build(distribution(tmp_path / "c.zip", posts)), "dev", DEV)
    assert [entity.text for entity in document.entities] == ["hair loss"]


def test_the_folder_cadec_itself_or_what_is_above_it(tmp_path: Path) -> None:
    inside = build(distribution(tmp_path / "a.zip", root=""))
    above = build(distribution(tmp_path / "b.zip", root="CADEC.v2/cadec/"))
    assert inside.splits == above.splits


def test_a_missing_annotation_file_is_named(tmp_path: Path) -> None:
    source = distribution(tmp_path / "c.zip", leave_out=DEV)
    with pytest.raises(BadInput, match=f"There is no original/{DEV}.ann.*CADEC v2 zip"):
        build(source)
    ledger = Ledger(skip_bad=True)
    assert len(build(source, ledger)["dev"]) == 186
    assert ledger.errors == {"missing-file": 1}


def test_a_source_without_the_folders_says_what_source_should_be(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(DisconerError, match=r"no folder 'text'.*Expected the CADEC v2 zip"):
        build(tmp_path)


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        ("bad-offset", "T1\tADR 0 99\tx"),
        ("bad-syntax", "T1 ADR 0 4 some"),
        ("bad-syntax", "T1\tReaction 0 4\tsome"),
    ],
)
def test_bad_lines_are_named_with_file_and_line(tmp_path: Path, problem: str, line: str) -> None:
    source = distribution(tmp_path / "c.zip", {TEST: ("some text", f"T9\tADR 0 4\tsome\n{line}\n")})
    with pytest.raises(BadInput, match=rf"original/{TEST}\.ann, line 2") as caught:
        build(source)
    assert caught.value.problem == problem
