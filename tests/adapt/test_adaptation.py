from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from adapt.tiny import quick, tiny_encoder, write_notes
from disconer import DisconerError
from disconer.adapt import AdaptResult, AdaptSettings, adapt
from disconer.nn.devices import cpu_trains_in
from disconer.nn.encoders.transformer.pretrained import load_encoder
from disconer.training import train
from training.synthetic import complaints, prepare


@pytest.fixture(scope="module")
def done(encoder: str, texts: Path, tmp_path_factory: pytest.TempPathFactory) -> AdaptResult:
    """A short run, not to be changed."""
    return adapt(encoder, [texts], tmp_path_factory.mktemp("done") / "adapted", quick())


def metrics(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "adaptation" / "metrics.jsonl").read_text("utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def test_loss_and_perplexity_fall(done: AdaptResult) -> None:
    assert done.perplexity_before is not None
    assert done.perplexity_after is not None
    assert done.new_head
    assert done.perplexity_after < 0.7 * done.perplexity_before
    assert done.loss < metrics(done.folder)[0]["loss"] - 0.3
    assert math.exp(done.loss) == pytest.approx(done.perplexity_after, rel=0.5)


def test_account_of_what_was_read(done: AdaptResult) -> None:
    assert done.steps == 60
    assert done.subwords == 60 * 8 * 32
    assert [record["step"] for record in metrics(done.folder)] == [20, 40, 60]
    assert metrics(done.folder)[-1]["rate"] < 1e-4  # of 5e-3


def test_the_folder_is_an_ordinary_encoder(done: AdaptResult) -> None:
    names = {path.name for path in done.folder.iterdir()}
    assert names == {
        "README.md",
        "adaptation",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    about = {path.name for path in (done.folder / "adaptation").iterdir()}
    assert about == {"run.json", "metrics.jsonl", "curve.html", "result.json"}
    _, info = AutoModel.from_pretrained(done.folder, output_loading_info=True)
    assert all("pooler" in key for key in info["missing_keys"])
    transformer, tokenizer = load_encoder(str(done.folder))
    assert tokenizer.mask_token == "[MASK]"
    learnt = load_file(done.folder / "model.safetensors")["bert.embeddings.word_embeddings.weight"]
    assert transformer.get_input_embeddings().weight.equal(learnt)


def test_the_card_tells_base_text_and_figures(done: AdaptResult, texts: Path) -> None:
    card = (done.folder / "README.md").read_text("utf-8")
    assert f"{done.perplexity_after:,.2f}" in card
    assert "texts" in card
    assert "steps: 60" in card
    assert "A new one was initialised randomly" in card
    assert str(texts.parent.parent) not in card  # nothing about somebody's machine


@pytest.mark.slow
def test_a_recogniser_trains_on_it(done: AdaptResult, tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    encoder = config.encoder.model_copy(update={"name": str(done.folder)})
    assert train(config.model_copy(update={"encoder": encoder}), tmp_path / "run").best_epoch == 1


def test_adapting_again_goes_on_with_the_same_head(done: AdaptResult, texts: Path, tmp_path: Path) -> None:
    again = adapt(str(done.folder), [texts], tmp_path / "again", quick(steps=1))
    assert not again.new_head
    assert again.perplexity_before == pytest.approx(done.perplexity_after, rel=1e-5)


@pytest.mark.slow
def test_minutes_end_in_time_with_the_rate_at_zero(encoder: str, texts: Path, tmp_path: Path) -> None:
    result = adapt(encoder, [texts], tmp_path / "adapted", AdaptSettings(minutes=0.12, batch=8, length=32, at_once=8))
    assert result.seconds < 60 * 0.12
    assert (result.folder / "config.json").is_file()
    rates = [record["rate"] for record in metrics(result.folder)]
    assert max(rates) > 4e-4
    assert rates[-1] < 2e-5


def test_too_few_minutes(encoder: str, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"No time is left to train.*0\.01 minutes.*Give it more"):
        adapt(encoder, [texts], tmp_path / "adapted", quick(minutes=0.01))


def test_tokenised_text_serves_further_runs(encoder: str, tmp_path: Path) -> None:
    texts, tokens = write_notes(tmp_path / "notes"), tmp_path / "tokens"
    first = adapt(encoder, [texts], tmp_path / "one", quick(steps=2), tokens=tokens)
    stamp = (tokens / "train.ids").stat().st_mtime_ns
    second = adapt(encoder, [texts], tmp_path / "two", quick(steps=2), tokens=tokens)
    assert second.loss == first.loss
    assert (tokens / "train.ids").stat().st_mtime_ns == stamp
    with pytest.raises(DisconerError, match=r"made from other input.*held_out"):
        adapt(encoder, [texts], tmp_path / "three", quick(held_out=0.5), tokens=tokens)
    (tokens / "train.ids").write_bytes(b"12")
    with pytest.raises(DisconerError, match=r"tokenised text here is damaged.*2 bytes in train\.ids.*Delete"):
        adapt(encoder, [texts], tmp_path / "three", quick(steps=2), tokens=tokens)


def test_no_text_and_too_little(encoder: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(DisconerError, match=r"empty\.txt: No text found"):
        adapt(encoder, [tmp_path / "empty.txt"], tmp_path / "adapted", quick())
    (tmp_path / "short.txt").write_text("severe pain")
    with pytest.raises(DisconerError, match=r"too little text. Got 3 subwords, expected at least one sequence of 30"):
        adapt(encoder, [tmp_path / "short.txt"], tmp_path / "adapted2", quick(held_out=0))
    with pytest.raises(DisconerError, match="There is no such file or folder"):
        adapt(encoder, [tmp_path / "nowhere.txt"], tmp_path / "adapted3", quick())


def test_what_stands_in_the_way(encoder: str, texts: Path, done: AdaptResult, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DisconerError, match=r"The folder for the encoder is an existing file"):
        adapt(encoder, [texts], tmp_path / "file", quick())
    with pytest.raises(DisconerError, match="This folder is not empty"):
        adapt(encoder, [texts], texts, quick())
    with pytest.raises(DisconerError, match=r"already holds an adaptation.*--resume"):
        adapt(encoder, [texts], done.folder, quick())


def test_encoders_that_guess_nothing(texts: Path, tmp_path: Path) -> None:
    unmasked = tiny_encoder(tmp_path / "unmasked", mask=False)
    with pytest.raises(DisconerError, match=r"cannot be adapted.*a tokenizer without a mask token"):
        adapt(str(unmasked), [texts], tmp_path / "adapted", quick())
    left_to_right = tiny_encoder(tmp_path / "gpt2", "gpt2", n_embd=16, n_layer=1, n_head=2)
    with pytest.raises(DisconerError, match=r"cannot be adapted.*Got a model of type gpt2"):
        adapt(str(left_to_right), [texts], tmp_path / "adapted", quick())


def test_sequences_longer_than_the_encoder_takes(encoder: str, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"length 64, expected at most 40"):
        adapt(encoder, [texts], tmp_path / "adapted", quick(length=64))


def test_settings_that_cannot_be() -> None:
    with pytest.raises(DisconerError, match=r"steps 0, expected at least 1; mask 1\.5, expected between 0 and 1"):
        quick(steps=0, mask=1.5)


@pytest.mark.skipif(not cpu_trains_in(torch.bfloat16), reason="this CPU is refused bf16: it has no kernels for an LSTM")
def test_bf16(encoder: str, texts: Path, done: AdaptResult, tmp_path: Path) -> None:
    result = adapt(encoder, [texts], tmp_path / "adapted", quick(precision="bf16"))
    assert result.loss == pytest.approx(done.loss, rel=0.1)
    assert load_file(result.folder / "model.safetensors")["bert.embeddings.LayerNorm.weight"].dtype == torch.float32
