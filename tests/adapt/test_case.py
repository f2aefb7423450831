"""Encoders that learn to see capitals."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import normalizers
from transformers import AutoModel

from adapt.test_masking import masker, random_ids
from adapt.tiny import quick, tiny_encoder, tiny_tokenizer
from disconer import DisconerError
from disconer.adapt import AdaptResult, adapt
from disconer.adapt.batches import UNASKED, Masked
from disconer.adapt.model import MaskedModel, add_case, load_pretrained
from disconer.nn.encoders.transformer import Case

N_CASES = len(Case)


@pytest.fixture(scope="module")
def shouted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes without sense, in which some words stand in capitals and others never do."""
    folder, rng = tmp_path_factory.mktemp("shouted"), random.Random(1)
    for number in range(40):
        (folder / f"{number}.txt").write_text(" ".join(rng.choices(["pain", "knee", "MILD", "RENAL"], k=30)))
    return folder


@pytest.fixture(scope="module")
def done(encoder: str, shouted: Path, tmp_path_factory: pytest.TempPathFactory) -> AdaptResult:
    """A short run, not to be changed."""
    tokens = tmp_path_factory.mktemp("tokens")
    return adapt(encoder, [shouted], tmp_path_factory.mktemp("done") / "adapted", quick(case=True), tokens=tokens)


@pytest.mark.parametrize("family", ["bert", "electra", "albert", "roberta"])
@pytest.mark.parametrize("n_types", [1, 2])
def test_all_cases_begin_alike(family: str, n_types: int, tmp_path: Path) -> None:
    folder = str(tiny_encoder(tmp_path, family, head=True, type_vocab_size=n_types))
    old, new = load_pretrained(folder), load_pretrained(folder)
    add_case(new, folder)
    assert (old.reads_case, new.reads_case) == (False, True)
    ids, places = torch.randint(5, 40, (3, 12)), torch.arange(4).repeat(3, 1)
    targets, cases = ids.gather(1, places), torch.randint(N_CASES, (3, 12))
    before, _ = MaskedModel(old.language_model).eval()(Masked(ids, places, targets))
    after, _ = MaskedModel(new.language_model).eval()(Masked(ids, places, targets, cases))
    assert after.equal(before)


def test_cases_come_to_differ(done: AdaptResult) -> None:
    assert json.loads((done.folder / "config.json").read_text())["token_types"] == "case"
    transformer = AutoModel.from_pretrained(done.folder)
    assert (transformer.config.token_types, transformer.config.type_vocab_size) == ("case", N_CASES)
    rows = transformer.embeddings.token_type_embeddings.weight
    assert rows.shape[0] == N_CASES
    assert not rows[Case.LOWER].allclose(rows[Case.UPPER], atol=1e-3)
    assert rows[Case.TITLE].allclose(rows[Case.MIXED])  # neither was there


def test_case_helps_to_guess(done: AdaptResult, encoder: str, shouted: Path, tmp_path: Path) -> None:
    blind = adapt(encoder, [shouted], tmp_path / "adapted", quick())
    assert done.perplexity_after is not None
    assert blind.perplexity_after is not None
    assert done.perplexity_before == pytest.approx(blind.perplexity_before)
    assert done.perplexity_after < 0.75 * blind.perplexity_after


def test_the_card_tells(done: AdaptResult) -> None:
    card = (done.folder / "README.md").read_text("utf-8")
    assert "It reads letter case" in card
    assert "(0 lower, 1 title, 2 upper, 3 mixed)" in card


def test_who_reads_case_goes_on_doing_so(done: AdaptResult, shouted: Path, tmp_path: Path) -> None:
    again = adapt(str(done.folder), [shouted], tmp_path / "again", quick(steps=1))
    asked = adapt(str(done.folder), [shouted], tmp_path / "asked", quick(steps=1, case=True))
    assert load_pretrained(str(again.folder)).reads_case
    assert again.perplexity_before == asked.perplexity_before == pytest.approx(done.perplexity_after, rel=1e-5)


def test_tokens_without_cases_do_not_serve(encoder: str, texts: Path, tmp_path: Path) -> None:
    adapt(encoder, [texts], tmp_path / "one", quick(steps=1), tokens=tmp_path / "tokens")
    with pytest.raises(DisconerError, match="a different case"):
        adapt(encoder, [texts], tmp_path / "two", quick(steps=1, case=True), tokens=tmp_path / "tokens")
    adapt(encoder, [texts], tmp_path / "three", quick(steps=1, case=True), tokens=tmp_path / "cased")
    stored = [np.fromfile(tmp_path / folder / "train.cases", np.uint8) for folder in ("tokens", "cased")]
    assert [len(array) > 0 for array in stored] == [False, True]


def test_masked_subwords_keep_their_case() -> None:
    cases = torch.randint(N_CASES, (6, 32))
    masked = masker(0.4)(random_ids(1), None, cases)
    assert (masked.targets != UNASKED).any()
    assert masked.cases is cases


@pytest.mark.parametrize("family", ["mpnet", "deberta-v2", "modernbert", "distilbert"])
def test_encoders_without_token_types(family: str, texts: Path, tmp_path: Path) -> None:
    folder = str(tiny_encoder(tmp_path / "encoder", family))
    with pytest.raises(DisconerError, match=rf"cannot read case.*Got a model of type {family}.*Omit --case"):
        adapt(folder, [texts], tmp_path / "adapted", quick(case=True))


def test_tokenizers_that_keep_capitals(texts: Path, tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "encoder")
    tokenizer = tiny_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.save_pretrained(folder)
    with pytest.raises(DisconerError, match="does not need --case: its tokenizer keeps capitals"):
        adapt(str(folder), [texts], tmp_path / "adapted", quick(case=True))
