from __future__ import annotations

from pathlib import Path

import pytest

from disconer import DisconerError, Ledger, read
from disconer.core.corpus import Corpus
from disconer.core.types import Kind
from disconer.corpora import recipe_named
from disconer.corpora.chia import TYPES
from disconer.corpora.prepare import count
from disconer.corpora.recipe import SPLITS


def build(source: Path, ledger: Ledger | None = None, **options: str) -> Corpus:
    recipe = recipe_named("chia")
    return recipe.build(source, recipe.choose(options), ledger or Ledger())


def trial(folder: Path, name: str, text: str = "Fever\r\nNo asthma\r\n", ann: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes(ann.encode())


def test_fifteen_types_and_a_sentence_a_line(tmp_path: Path) -> None:
    ann = "*\tOR T1 T2\nT1\tCondition 0 5\tFever\nT2\tCondition 10 16\tasthma\nT3\tParsing_Error 0 5\tFever\n"
    trial(tmp_path / "chia_without_scope", "NCT00050349_inc", ann=ann)
    ledger = Ledger()
    (document,) = build(tmp_path, ledger)
    assert document.id == "NCT00050349_inc"
    assert [(entity.id, entity.text, entity.kind) for entity in document.entities] == [
        ("T1", "Fever", Kind.REGULAR),
        ("T2", "asthma", Kind.REGULAR),
    ]
    assert [(s.start, s.end, len(s.tokens)) for s in document.sentences or ()] == [(0, 5, 1), (7, 16, 2)]
    assert not document.extras
    assert ledger.losses == {"entities of other types": 1}


def test_sentences_can_be_those_of_prose(tmp_path: Path) -> None:
    trial(tmp_path, "NCT00050349_inc", text="Fever. No asthma\r\nCough\r\n")
    found = {
        choice: [
            (sentence.start, sentence.end)
            for document in build(tmp_path, sentences=choice)
            for sentence in document.sentences or ()
        ]
        for choice in ("lines", "rules")
    }
    assert found == {"lines": [(0, 16), (18, 23)], "rules": [(0, 6), (7, 16), (18, 23)]}


def test_both_documents_of_a_trial_fall_together(tmp_path: Path) -> None:
    # Their md5 values are 16, 89 and 92 mod 100.
    for number, side in (("01", "inc"), ("01", "exc"), ("02", "exc"), ("02", "inc"), ("08", "inc")):
        trial(tmp_path, f"NCT000000{number}_{side}")
    corpus = build(tmp_path)
    assert {split: [document.id for document in corpus[split]] for split in SPLITS} == {
        "train": ["NCT00000001_exc", "NCT00000001_inc"],
        "dev": ["NCT00000002_exc", "NCT00000002_inc"],
        "test": ["NCT00000008_inc"],
    }


def test_what_is_not_chia_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"no Chia documents.*chia_without_scope\.zip"):
        build(tmp_path)
    trial(tmp_path, "note_1")
    with pytest.raises(DisconerError, match="'note_1' is not the name of a Chia document"):
        build(tmp_path)


def test_the_real_corpus(data: Path) -> None:
    archive = data / "chia" / "chia_without_scope.zip"
    everything = count(document.replace(sentences=()) for document in read(archive))
    assert (everything.documents, everything.entities) == (2000, 44_616)  # of all thirty types
    assert (everything.sharing_text, everything.discontinuous) == (8_218, 1_786)  # 18.4 % and 4.0 %
    ledger = Ledger()
    corpus = build(archive, ledger)
    assert [len(corpus[split]) for split in SPLITS] == [1624, 180, 196]
    assert [sum(len(document.entities) for document in corpus[split]) for split in SPLITS] == [33_568, 3_747, 3_661]
    assert {entity.label for document in corpus for entity in document.entities} == TYPES
    assert ledger.losses == {"entities of other types": 44_616 - 40_976}
    trials = [{document.id.split("_")[0] for document in corpus[split]} for split in SPLITS]
    assert sum(map(len, trials)) == len(set.union(*trials)) == 1000
