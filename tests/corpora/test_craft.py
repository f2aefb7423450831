from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from corpora.craft_distribution import concept_path, write_distribution
from disconer import BadInput, DisconerError, Ledger, read, write
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity
from disconer.corpora import recipe_named

RECIPE = recipe_named("craft")

# A clause of CRAFT 5.0.2, article 11604102 (Univ. of Colorado, CC BY 3.0), with a title put before it.
TEXT = "Infertility\n\nsomatic and germ cells"
ARTICLE = Document(
    "11604102",
    TEXT,
    (
        Entity("MONDO", ((0, 11),)),
        Entity("CL", ((13, 20), (30, 35))),
        Entity("CL", ((25, 35),)),
    ),
    (
        Sentence(0, 11, ((0, 11),), (-1,), ("root",)),
        Sentence(13, 35, ((13, 20), (21, 24), (25, 29), (30, 35)), (3, 0, 0, -1), ("amod", "cc", "conj", "root")),
    ),
)
SPLITS = {"train": [ARTICLE], "dev": [ARTICLE.replace(id="2")], "test": [ARTICLE.replace(id="3")]}


def build(source: Path, ledger: Ledger | None = None) -> dict[str, list[Document]]:
    corpus = RECIPE.build(source, {}, ledger or Ledger())
    return {split: list(documents) for split, documents in corpus.splits.items()}


def test_reads_the_official_distribution_as_folder_or_archive(tmp_path: Path) -> None:
    root = write_distribution(tmp_path, SPLITS)
    assert build(root) == build(tmp_path) == SPLITS
    assert build(Path(shutil.make_archive(str(tmp_path / "a"), "zip", tmp_path, root.name))) == SPLITS
    assert build(Path(shutil.make_archive(str(tmp_path / "b"), "gztar", tmp_path, root.name))) == SPLITS


def test_reads_splits_in_native_jsonl(tmp_path: Path) -> None:
    for split, documents in SPLITS.items():
        write(documents, tmp_path / f"{split}.jsonl.gz")
    assert build(tmp_path) == SPLITS


def test_a_mention_annotated_twice_counts_once_and_other_words_give_way_to_the_offsets(tmp_path: Path) -> None:
    root = write_distribution(tmp_path, SPLITS)
    file = root / concept_path("CL", "3")
    annotation = '<annotation><span start="25" end="35"/><spannedText>egg cells</spannedText></annotation>'
    file.write_text(file.read_text().replace("</annotations>", f"{annotation}</annotations>"))
    ledger = Ledger()
    assert build(root, ledger) == SPLITS
    assert ledger.losses == {"duplicate annotations of a mention": 1}
    assert ledger.repairs == {"mention texts replaced by the text at their offsets": 1}


TREES = "structural-annotation/dependency/conllu/2.conllu"
BAD = [
    ("text-mismatch", TREES, "germ", "stem", r"line 8, offset 25: .* Got 'stem', expected 'germ cells'"),
    ("bad-syntax", TREES, "1\tsomatic\t_\tX\tX\t_\t4", "1\tsomatic\t_\tX\tX\t_\tfour", "line 6"),
    ("bad-syntax", TREES, "1\tsomatic\t_\tX\tX\t_\t4", "1\tsomatic\t_\tX\tX\t_\t1", "line 6: token 0 has head 0"),
    ("bad-syntax", TREES, "1\tsomatic\t", "1 somatic ", "line 6"),
    ("bad-offset", concept_path("CL", "2"), 'end="35"', 'end="135"', r"an end of at most 35"),
    ("bad-syntax", concept_path("CL", "2"), 'end="35"', 'end=""', "A <span> needs a start and an end"),
    ("bad-syntax", concept_path("CL", "2"), "annotations>", "notes>", "expected <annotations>"),
    ("truncated", concept_path("MONDO", "2"), "</knowtator-project>", "", "ends too early"),
]


@pytest.mark.parametrize(("problem", "file", "old", "new", "message"), BAD)
def test_damage_is_said_with_its_place(
    tmp_path: Path, problem: str, file: str, old: str, new: str, message: str
) -> None:
    root = write_distribution(tmp_path, SPLITS)
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))
    with pytest.raises(BadInput, match=message) as caught:
        build(root)
    assert caught.value.problem == problem
    assert file in str(caught.value)


def test_a_document_without_all_its_files_can_be_skipped(tmp_path: Path) -> None:
    root = write_distribution(tmp_path, SPLITS | {"dev": [ARTICLE.replace(id="2"), ARTICLE.replace(id="4")]})
    (root / concept_path("MOP", "2")).unlink()
    (root / TREES).unlink()
    with pytest.raises(BadInput, match="document '2': Its files are missing: conllu, MOP"):
        build(root)
    ledger = Ledger(skip_bad=True)
    assert build(root, ledger)["dev"] == [ARTICLE.replace(id="4")]
    assert ledger.errors == {"missing-file": 1}


@pytest.mark.parametrize("folder", ["concept-annotation/MONDO", "articles/ids", "structural-annotation"])
def test_a_layer_that_is_missing_is_named(tmp_path: Path, folder: str) -> None:
    root = write_distribution(tmp_path, SPLITS)
    shutil.rmtree(root / folder)
    with pytest.raises(DisconerError, match=rf"There is no folder {folder}.*\. Expected CRAFT 5"):
        build(root)


def test_counts_of_the_corpus(data: Path) -> None:
    splits = build(data / "craft")
    assert {split: len(documents) for split, documents in splits.items()} == {"train": 60, "dev": 7, "test": 30}
    documents = [document for split in splits.values() for document in split]
    assert sum(len(document.sentences or ()) for document in documents) == 30_830
    kinds = Counter(str(entity.kind) for document in documents for entity in document.entities)
    assert (kinds.total(), kinds["discontinuous"]) == (99_623, 2_014)
    assert len({entity.label for document in documents for entity in document.entities}) == 11


def test_the_layout_carries_real_articles_whole(tmp_path: Path, data: Path) -> None:
    articles = [without_ids(document) for document in read(data / "craft" / "dev.jsonl.gz")]
    root = write_distribution(tmp_path, {"train": articles[:1], "dev": articles[1:3], "test": articles[3:]})
    assert [document for split in build(root).values() for document in split] == articles


def without_ids(document: Document) -> Document:
    """The document as the recipe orders its entities; the distribution has no ids for them."""
    entities = [Entity(entity.label, entity.fragments) for entity in document.entities]
    return document.replace(entities=tuple(sorted(entities, key=lambda entity: (entity.fragments, entity.label))))
