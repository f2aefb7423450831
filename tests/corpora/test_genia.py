from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest

from disconer import BadInput, DisconerError, Ledger
from disconer.core.corpus import Corpus
from disconer.core.types import Document
from disconer.corpora import recipe_named
from disconer.corpora.genia import ALL, CONTINUOUS, FIVE, FULL, OTHER, read_documents
from disconer.text.alignment import align

EXCERPT = Path(__file__).with_name("genia_excerpt.xml")
RECIPE = recipe_named("genia")


def mentions(document: Document) -> list[tuple[str, str]]:
    return [
        (entity.label, " … ".join(document.text[start:end] for start, end in entity.fragments))
        for entity in document.entities
    ]


def test_text_is_a_sentence_a_line_with_exact_offsets() -> None:
    first, second = read_documents(EXCERPT, CONTINUOUS, Ledger())
    assert second.id == "MEDLINE:97218353"
    assert second.text == (
        "Detection of adenovirus DNA in peripheral blood mononuclear cells.\nThe E1A and hexon primers amplified DNA."
    )
    assert [first.text[s.start : s.end] for s in first.sentences or ()] == first.text.split("\n")
    assert [len(s.tokens) for s in second.sentences or ()] == [10, 10]


def test_nested_terms_of_five_types() -> None:
    first, _ = read_documents(EXCERPT, CONTINUOUS, Ledger())
    assert mentions(first) == [
        ("DNA", "IL-2 gene"),
        ("protein", "NF-kappa B"),
        ("protein", "CD28"),
        ("protein", "5-lipoxygenase"),
        ("protein", "CD28 surface receptor"),
        ("protein", "CD28"),
    ]


def test_of_a_document_annotated_twice_the_later_is_taken() -> None:
    ledger = Ledger()
    _, second = read_documents(EXCERPT, CONTINUOUS, ledger)
    plain = [
        ("DNA", "adenovirus DNA"),
        ("cell_type", "peripheral blood mononuclear cells"),
        ("protein", "E1A"),
        ("protein", "hexon"),
    ]
    assert mentions(second) == plain
    assert ledger.repairs == {"documents annotated twice, the later annotation used": 1}
    _, second = read_documents(EXCERPT, FULL, Ledger())
    assert sorted(mentions(second)) == sorted([*plain, ("DNA", "E1A … primers"), ("DNA", "hexon primers")])


def test_documents_may_keep_terms_of_other_types() -> None:
    first, second = read_documents(EXCERPT, FULL, Ledger(), with_others=["MEDLINE:95369245"])
    without, same = read_documents(EXCERPT, FULL, Ledger())
    assert second == same
    others = [
        ("other_name", "IL-2 gene expression"),
        ("other_name", "NF-kappa B activation"),
        ("other_name", "T cell activation"),
    ]
    assert [mention for mention in mentions(first) if mention not in mentions(without)] == others
    assert [mention for mention in mentions(first) if mention not in others] == mentions(without)


@pytest.mark.parametrize("form", ["file", "folder", "tgz"])
def test_reads_the_distribution_packed_or_not(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "GENIA_term_3.02"
    folder.mkdir()
    file = folder / "GENIAcorpus3.02.xml"
    file.write_bytes(EXCERPT.read_bytes())
    (folder / "other.xml").write_text("<set/>")
    with tarfile.open(tmp_path / "GENIAcorpus3.02.tgz", "w:gz") as archive:
        archive.add(folder, folder.name)
    source = {"file": file, "folder": tmp_path, "tgz": tmp_path / "GENIAcorpus3.02.tgz"}[form]
    assert list(read_documents(source, FULL, Ledger())) == list(read_documents(EXCERPT, FULL, Ledger()))


def replaced(tmp_path: Path, old: str, new: str) -> Path:
    path = tmp_path / "corpus.xml"
    text = EXCERPT.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    return path


BAD = [
    ("bad-syntax", "<bibliomisc>MEDLINE:95369245</bibliomisc>", "", "line 7"),
    ("bad-syntax", "surface receptor</cons>", "surface receptor", "not well-formed"),
    ("duplicate-id", "MEDLINE:95369245", "MEDLINE:97218353", "line 18, document 'MEDLINE:97218353'"),
    ("unsafe-xml", '<!DOCTYPE set SYSTEM "gpml.dtd">', '<!DOCTYPE set [<!ENTITY a "aa">]>', "line 2"),
]


@pytest.mark.parametrize(("problem", "old", "new", "place"), BAD)
def test_damage_is_said_with_its_place(tmp_path: Path, problem: str, old: str, new: str, place: str) -> None:
    with pytest.raises(BadInput, match=place) as caught:
        list(read_documents(replaced(tmp_path, old, new), FULL, Ledger()))
    assert caught.value.problem == problem


def test_a_download_cut_short(tmp_path: Path, data: Path) -> None:
    path = tmp_path / "GENIAcorpus3.02.tgz"
    path.write_bytes((data / "genia" / path.name).read_bytes()[:100_000])
    with pytest.raises(BadInput, match="archive is damaged") as caught:
        RECIPE.build(path, {"setting": FULL, "types": FIVE}, Ledger())
    assert caught.value.problem == "unreadable-file"


def test_an_archive_without_the_corpus(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as archive:
        archive.add(EXCERPT, "else.xml")
    with pytest.raises(DisconerError, match=r"There is no GENIAcorpus3\.02\.xml in it"):
        RECIPE.build(tmp_path / "a.tgz", {"setting": FULL, "types": FIVE}, Ledger())


def test_documents_that_the_split_names_must_be_there() -> None:
    with pytest.raises(BadInput, match="document 'MEDLINE:95333264': There is no such article"):
        RECIPE.build(EXCERPT, {"setting": FULL, "types": FIVE}, Ledger())
    ledger = Ledger(skip_bad=True)
    corpus = RECIPE.build(EXCERPT, {"setting": FULL, "types": FIVE}, ledger)
    assert [len(documents) for documents in corpus.splits.values()] == [2, 0, 0]
    assert ledger.errors == {"missing-file": 1997}


def table(corpus: Corpus) -> dict[str, tuple[int, int, int, int, int]]:
    """Documents, sentences, entities, overlapped and discontinuous ones of each split."""
    rows = {}
    for split, documents in corpus.splits.items():
        kinds = Counter(str(entity.kind) for document in documents for entity in document.entities)
        n_sentences = sum(len(document.sentences or ()) for document in documents)
        rows[split] = (len(documents), n_sentences, kinds.total(), kinds["overlapped"], kinds["discontinuous"])
    return rows


def test_continuous_has_the_figures_of_the_literature(data: Path) -> None:
    ledger = Ledger()
    corpus = RECIPE.build(data / "genia" / "GENIAcorpus3.02.tgz", {"setting": CONTINUOUS, "types": FIVE}, ledger)
    assert table(corpus) == {
        "train": (1601, 15038, 46203, 8309, 0),
        "dev": (199, 1765, 4714, 850, 0),
        "test": (199, 1732, 5119, 1156, 0),
    }
    assert ledger.losses == {
        "duplicate annotations of a mention": 33,
        "members of coordinations, which --setting full keeps": 2223,
    }
    assert sum(len(align(document)[1]) for document in corpus) == 10


def test_all_types_are_in_the_training_documents_alone(data: Path) -> None:
    source = data / "genia" / "GENIAcorpus3.02.tgz"
    five = RECIPE.build(source, {"setting": FULL, "types": FIVE}, Ledger())
    corpus = RECIPE.build(source, {"setting": FULL, "types": ALL}, Ledger())
    assert (corpus.splits["dev"], corpus.splits["test"]) == (five.splits["dev"], five.splits["test"])
    assert table(corpus)["train"] == (1601, 15038, 77070, 25567, 1664)
    labels = {entity.label for document in five for entity in document.entities}
    for with_others, without in zip(corpus.splits["train"], five.splits["train"], strict=True):
        assert [one.key for one in with_others.entities if one.label in labels] == [one.key for one in without.entities]
    counts = Counter(entity.label for document in corpus.splits["train"] for entity in document.entities)
    assert (counts["other_name"], counts["virus"], counts[OTHER]) == (17152, 1572, 2183)


def test_full_adds_the_members_of_coordinations(data: Path) -> None:
    ledger = Ledger()
    corpus = RECIPE.build(data / "genia" / "GENIAcorpus3.02.tgz", {"setting": FULL, "types": FIVE}, ledger)
    assert table(corpus) == {
        "train": (1601, 15038, 48048, 9109, 1085),
        "dev": (199, 1765, 4947, 954, 135),
        "test": (199, 1732, 5258, 1214, 83),
    }
    assert ledger.losses["members of coordinations that are not in the text"] == 5
    assert sum(len(align(document)[1]) for document in corpus) == 20
