from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForMaskedLM

from adapt.tiny import quick, tiny_encoder
from disconer.adapt import adapt
from disconer.adapt.batches import UNASKED, Masked
from disconer.adapt.model import MaskedModel, load_pretrained
from disconer.nn.encoders.transformer.pretrained import load_encoder

FAMILIES = ["bert", "roberta", "mpnet", "electra", "deberta-v2", "modernbert", "distilbert", "albert"]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_head_reads_chosen_places_as_it_reads_all(family: str, tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, family, head=True)
    pretrained = load_pretrained(str(folder))
    assert not pretrained.new_head
    ids = torch.randint(5, 40, (3, 12))
    places = torch.stack([torch.randperm(12)[:4] for _ in range(3)])
    targets = torch.randint(5, 40, (3, 4)).index_fill(1, torch.tensor([1]), UNASKED)
    loss, count = MaskedModel(pretrained.language_model).eval()(Masked(ids, places, targets))
    labels = torch.full((3, 12), UNASKED).scatter(1, places, targets)
    whole = AutoModelForMaskedLM.from_pretrained(folder).eval()(input_ids=ids, labels=labels).loss
    assert count == 9
    torch.testing.assert_close(loss / count, whole)


@pytest.mark.parametrize("family", ["roberta", "mpnet", "electra", "deberta-v2", "modernbert"])
def test_families_without_a_head(family: str, texts: Path, tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "encoder", family)
    result = adapt(str(folder), [texts], tmp_path / "adapted", quick(steps=3, whole_words=True))
    assert result.new_head
    before, after = (load_encoder(str(path))[0].state_dict() for path in (folder, result.folder))
    assert before.keys() == after.keys()
    assert sum(not before[name].equal(after[name]) for name in before) > len(before) / 2


def test_a_new_head_shares_the_table_of_subwords(encoder: str) -> None:
    pretrained = load_pretrained(encoder)
    model = MaskedModel(pretrained.language_model)
    assert pretrained.new_head
    assert model.head.cls.predictions.decoder.weight is model.encoder.embeddings.word_embeddings.weight


def test_the_encoder_that_comes_along_can_go_on() -> None:
    before, _ = load_encoder("biomedical-minilm")
    loaded = load_pretrained("biomedical-minilm")
    assert loaded.new_head
    words = loaded.language_model.base_model.state_dict()
    assert all(torch.equal(words[name], weight) for name, weight in before.state_dict().items())
    assert loaded.language_model.get_output_embeddings().weight is loaded.language_model.get_input_embeddings().weight
