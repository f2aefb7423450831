from __future__ import annotations

from pathlib import Path

import pytest

from disconer import DisconerError, Ledger
from disconer.core.corpus import Corpus
from disconer.corpora import recipe_named
from disconer.corpora.prepare import count
from disconer.corpora.recipe import SPLITS


def build(source: Path, ledger: Ledger | None = None) -> Corpus:
    return recipe_named("phee").build(source, {}, ledger or Ledger())


def sentence(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text("Aspirin-induced asthma.\n")
    (folder / f"{name}.ann").write_text(
        "T4\tTreatment 0 7\tAspirin\nT3\tEffect 16 22\tasthma\nT5\tAdverse_event 8 15\tinduced\nE1\tAdverse_event:T5"
    )


def test_splits_are_folders_and_every_t_line_is_an_entity(tmp_path: Path) -> None:
    for split, name in zip(SPLITS, ("1_1", "2_1", "2_7"), strict=True):
        sentence(tmp_path / "clean" / split, name)
    corpus = build(tmp_path)
    assert {split: [document.id for document in corpus[split]] for split in SPLITS} == {
        "train": ["1_1"],
        "dev": ["2_1"],
        "test": ["2_7"],
    }
    (document,) = corpus["dev"]
    assert [entity.label for entity in document.entities] == ["Treatment", "Effect", "Adverse_event"]
    assert [len(sentence.tokens) for sentence in document.sentences or ()] == [5]


def test_what_is_not_phee_is_refused(tmp_path: Path) -> None:
    sentence(tmp_path / "train", "1_1")
    with pytest.raises(DisconerError, match="no folder 'dev' with sentences"):
        build(tmp_path)
    sentence(tmp_path / "more", "2_1")
    with pytest.raises(DisconerError, match="'more/2_1' is not in the folder of a split"):
        build(tmp_path)


def test_the_real_corpus(data: Path) -> None:
    corpus = build(data / "phee" / "phee.zip")
    counts = [count(corpus[split]) for split in SPLITS]
    assert [split.documents for split in counts] == [2898, 961, 968]
    assert [split.entities for split in counts] == [18_044, 6_098, 6_168]
    assert sum(split.discontinuous for split in counts) == 619
    assert sum(split.crossing_sentences for split in counts) == 0
    assert len({entity.label for document in corpus for entity in document.entities}) == 21
