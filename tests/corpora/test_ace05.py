from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Ledger
from disconer.core.corpus import Corpus
from disconer.core.types import Document, Kind
from disconer.corpora import recipe_named
from disconer.corpora.recipe import SPLITS, split_ids

TRAIN, DEV, TEST = (split_ids("ace05", split)[0] for split in SPLITS)
DTD = '<?xml version="1.0"?>\n<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">\n'


def sgml(body: str) -> str:
    return (
        "<DOC>\n<DOCID> X </DOCID>\n<DOCTYPE SOURCE='broadcast conversation'> STORY </DOCTYPE>\n"
        f"<DATETIME> 2003-03-28 16:00:00 </DATETIME>\n<BODY>\n<TEXT>\n{body}</TEXT>\n</BODY>\n</DOC>\n"
    )


HEADER = len("\n X \n STORY \n 2003-03-28 16:00:00 \n\n\n")  # what the tags leave of it


def apf(body: str, *mentions: tuple[str, str], shift: int = 0) -> str:
    """The annotations of mentions (label, text of the body), whose offsets count the body as it stands."""
    entities = []
    for number, (label, text) in enumerate(mentions):
        start = HEADER + body.index(text) + shift
        charseq = f'<charseq START="{start}" END="{start + len(text) - 1}">{text}</charseq>'
        entities.append(
            f'<entity ID="E{number}" TYPE="{label}" SUBTYPE="x" CLASS="SPC">'
            f'<entity_mention ID="E{number}-1" TYPE="NOM">'
            f"<extent>{charseq}</extent><head>{charseq}</head></entity_mention>"
            f'<entity_attributes><name NAME="x">{charseq}</name></entity_attributes></entity>'
        )
    charseq = '<charseq START="1" END="1">X</charseq>'
    timex = f'<timex2 ID="T1"><timex2_mention ID="T1-1"><extent>{charseq}</extent></timex2_mention></timex2>'
    return f'{DTD}<source_file URI="x"><document DOCID="x">{"".join(entities)}{timex}</document></source_file>'


PLAIN = "The president of the United\nStates met Mr. Blair. They talked.\n"
AMPERSAND = "AT&amp;T hired him.\n"
DOCUMENTS = {
    TRAIN: (PLAIN, apf(PLAIN, ("PER", "The president of the United\nStates"), ("GPE", "the United\nStates"))),
    DEV: (AMPERSAND, apf(AMPERSAND, ("ORG", "AT&amp;T"), ("PER", "him"))),
    TEST: ("fine\n", apf("fine\n")),
}


def distribution(
    root: Path,
    documents: Mapping[str, tuple[str, str]] = DOCUMENTS,
    folder: str = "adj",
    leave_out: tuple[str, str] | None = None,
) -> Path:
    """A folder in the layout of LDC2006T06 with a document for every id of the splits."""
    everything = {id: DOCUMENTS[TEST] for split in SPLITS for id in split_ids("ace05", split)} | dict(documents)
    for id, (body, xml) in everything.items():
        part, _, name = id.split("/")
        target = root / "data" / "English" / part / folder
        target.mkdir(parents=True, exist_ok=True)
        for suffix, content in (("sgm", sgml(body)), ("apf.xml", xml)):
            if (id, suffix) != leave_out:
                (target / f"{name}.{suffix}").write_text(content)
    chinese = root / "data" / "Chinese" / "bn" / folder
    chinese.mkdir(parents=True)
    (chinese / "CNN_CF_20030303.1900.00.sgm").write_text("not this one")
    return root


def build(source: Path, ledger: Ledger | None = None, annotations: str = "adj") -> Corpus:
    return recipe_named("ace05").build(source, {"annotations": annotations}, ledger or Ledger())


@pytest.fixture(scope="module")
def ldc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return distribution(tmp_path_factory.mktemp("ldc"))


def first(corpus: Corpus, split: str) -> Document:
    return corpus[split][0]


def test_the_literatures_split(ldc: Path) -> None:
    corpus = build(ldc)
    assert [len(corpus[split]) for split in SPLITS] == [370, 43, 51]
    assert first(corpus, "train").id == TRAIN


def test_nested_mentions_by_their_extents(ldc: Path) -> None:
    assert [(entity.label, entity.text, entity.kind) for entity in first(build(ldc), "train").entities] == [
        ("PER", "The president of the United\nStates", Kind.OVERLAPPED),
        ("GPE", "the United\nStates", Kind.OVERLAPPED),
    ]


def test_sentences_go_over_line_breaks_and_leave_the_header_out(ldc: Path) -> None:
    document = first(build(ldc), "train")
    assert [document.text[sentence.start : sentence.end] for sentence in document.sentences or ()] == [
        "The president of the United\nStates met Mr. Blair.",
        "They talked.",
    ]


def test_tags_end_sentences(tmp_path: Path) -> None:
    body = "<TURN>\n<SPEAKER> BLITZER </SPEAKER>\nthanks very much\n</TURN>\n"
    document = first(build(distribution(tmp_path, {TEST: (body, apf(""))})), "test")
    assert [document.text[s.start : s.end] for s in document.sentences or ()] == ["BLITZER", "thanks very much"]


def test_an_ampersand_counts_as_it_stands(ldc: Path) -> None:
    ledger = Ledger()
    assert [entity.text for entity in first(build(ldc, ledger), "dev").entities] == ["AT&amp;T", "him"]
    assert not ledger.repairs


def test_an_ampersand_that_counts_one_is_recognised(tmp_path: Path) -> None:
    counted_as_one = apf("AT&T hired him.\n", ("PER", "him"))
    ledger = Ledger()
    corpus = build(distribution(tmp_path, {DEV: (AMPERSAND, counted_as_one)}), ledger)
    assert [entity.text for entity in first(corpus, "dev").entities] == ["him"]
    assert ledger.repairs == {"documents that count &amp; as one character": 1}


def test_a_repeated_mention_is_one(tmp_path: Path) -> None:
    ledger = Ledger()
    repeated = apf(PLAIN, ("PER", "Mr. Blair"), ("PER", "Mr. Blair"), ("ORG", "Mr. Blair"))
    document = first(build(distribution(tmp_path, {TRAIN: (PLAIN, repeated)}), ledger), "train")
    assert [entity.label for entity in document.entities] == ["PER", "ORG"]
    assert ledger.losses.total() == 1


def test_packed_as_the_ldc_sends_it(ldc: Path, tmp_path: Path) -> None:
    packed = tmp_path / "ace_2005_td_v7_LDC2006T06.tgz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(ldc, "ace_2005_td_v7")
    assert build(packed).splits == build(ldc / "data" / "English").splits


def test_the_stage_of_annotation_can_be_chosen(ldc: Path, tmp_path: Path) -> None:
    later = distribution(tmp_path, folder="timex2norm")
    assert build(later, annotations="timex2norm").splits == build(ldc).splits
    with pytest.raises(DisconerError, match=r"no English documents in folders 'adj'.*LDC2006T06"):
        build(later)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"{DEV}.*The \.apf\.xml file of this document is missing"):
        build(distribution(tmp_path, leave_out=(DEV, "apf.xml")))


BAD = [
    ("text-mismatch", apf(PLAIN, ("PER", "Mr. Blair"), shift=2)),
    ("bad-offset", apf(PLAIN, ("PER", "Mr. Blair"), shift=500)),
    ("bad-syntax", apf(PLAIN, ("NUM", "Mr. Blair"))),
    ("bad-syntax", apf(PLAIN, ("PER", "Mr. Blair")).replace("START=", "BEGIN=", 1)),
    ("truncated", apf(PLAIN)[:-20]),
]


@pytest.mark.parametrize(("problem", "annotations"), BAD)
def test_bad_annotations_are_named(tmp_path: Path, problem: str, annotations: str) -> None:
    source = distribution(tmp_path, {TEST: (PLAIN, annotations)})
    name = TEST.rpartition("/")[2]
    with pytest.raises(BadInput, match=rf"{name}\.apf\.xml") as caught:
        build(source)
    assert caught.value.problem == problem
    ledger = Ledger(skip_bad=True)
    build(source, ledger)
    assert ledger.errors == {problem: 1}
