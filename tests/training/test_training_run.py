"""Whole runs: what they leave, and what they make of data that is not as it should be."""

from __future__ import annotations

import errno
import hashlib
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from annotated import annotated
from disconer import DisconerError, Document, Entity, write
from disconer.config import Config, config_from_dict, load_config
from disconer.evaluate import Counts
from disconer.evaluate.entity_lists import each_document, load_lists
from disconer.nn.devices import cpu_trains_in
from disconer.predict.recognizer import Recognizer
from disconer.training import train
from disconer.training.record import check_record, data_hash, write_record
from disconer.training.state import RunFolder
from training.conftest import Run
from training.synthetic import complaints, prepare
from training.test_resume import metrics


def changed(config: Config, section: str, **values: Any) -> Config:
    plain = config.to_dict()
    return config_from_dict(plain | {section: plain[section] | values})


def test_a_run_leaves_what_made_it(unbroken: Run) -> None:
    assert load_config(unbroken.out / "config.yaml") == unbroken.config
    facts = json.loads((unbroken.out / "run.json").read_text("utf-8"))
    assert facts["data"].keys() == {"train", "dev"}
    assert facts["data"]["train"] == data_hash(unbroken.config.data.train)
    assert {"disconer", "python", "torch", "transformers", "accelerate"} <= facts.keys()


def test_a_run_leaves_a_record_an_epoch_and_the_figures_of_the_best(unbroken: Run) -> None:
    records = [json.loads(line) for line in (unbroken.out / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [record["epoch"] for record in records] == [1, 2]
    assert records[0]["loss"] > records[1]["loss"] > 0
    figures = json.loads((unbroken.out / "dev.json").read_text("utf-8"))
    assert figures["overall"]["f1"] == max(record["dev_f1"] for record in records)
    assert records[unbroken.result.best_epoch - 1]["dev_f1"] == unbroken.result.dev.overall.f1
    for name in ("", "best", "last"):
        assert Recognizer.from_pretrained(unbroken.out / name).labels == ("ADR", "Drug")


def test_a_run_keeps_its_entities_and_its_speed(unbroken: Run) -> None:
    lists = load_lists(unbroken.out / "dev.entities.jsonl")
    assert sum(each_document(lists), Counts()) == unbroken.result.dev.overall
    speed = json.loads((unbroken.out / "speed.json").read_text("utf-8"))
    assert (speed["device"], speed["dev"]["sentences"]) == ("cpu", 16)
    assert speed["dev"]["seconds"] > 0


def test_fingerprints_tell_names_and_contents_apart(tmp_path: Path) -> None:
    for name, content in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(content)
    assert len({data_hash(str(tmp_path / name)) for name in "abc"}) == 3
    single = hashlib.sha256(b"a.txt\0" + hashlib.sha256(b"one").digest()).hexdigest()
    assert data_hash(str(tmp_path / "a")) == data_hash(str(tmp_path / "a" / "a.txt")) == single


@pytest.mark.slow
def test_stops_when_dev_does_not_get_better(tmp_path: Path) -> None:
    rates = {"encoder_rate": 1e-3, "head_rate": 3e-3}
    config = prepare(tmp_path, complaints(8), complaints(8), epochs=60, patience=3, warmup=0.0, **rates)
    found = [record["dev_f1"] for record in metrics(train(config, tmp_path / "run").folder.parent)]
    assert len(found) < 60
    assert len(found) == found.index(max(found)) + 1 + 3


def test_waits_for_a_model_that_finds_nothing_yet_and_says_so_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last epoch, which learned most, is kept: not the first of those that found nothing."""
    config = prepare(tmp_path, complaints(8), complaints(8), epochs=5, patience=2, encoder_rate=1e-6, head_rate=1e-6)
    result = train(config, tmp_path / "run")
    assert [record["dev_f1"] for record in metrics(result.folder.parent)] == [0.0] * 5
    assert result.best_epoch == 5
    best, last = (load_file(tmp_path / "run" / name / "model.safetensors") for name in ("best", "last"))
    torch.testing.assert_close(best, last, rtol=0, atol=0)
    said = capsys.readouterr().err
    assert "warning: no epoch found any entity of dev, so the last one is kept." in said
    assert "training.batch_tokens=64" in said


def test_force_replaces_a_run_and_nothing_else(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=2)
    out = tmp_path / "run"
    train(config, out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(DisconerError, match="--resume to continue it or --force to replace it"):
        train(config, out)
    with pytest.raises(DisconerError, match="either resumed or replaced"):
        train(config, out, resume=True, force=True)
    train(changed(config, "training", epochs=1), out, force=True)
    assert len(metrics(out)) == 1
    assert (out / "notes.txt").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(DisconerError, match="This folder is not empty"):
        train(config, tmp_path / "other", force=True)


def test_a_run_that_cannot_begin_replaces_none(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    out = tmp_path / "run"
    train(config, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for name in ("run", "run/best", "run/last"):
        for place in (out, tmp_path / "run" / ".." / "run"):
            again = changed(config, "training", start_from=str(tmp_path / name))
            with pytest.raises(DisconerError, match="cannot start from a model of the run that it replaces"):
                train(again, place, force=True)
    with pytest.raises(DisconerError, match="not-there"):
        train(changed(config, "encoder", name="not-there"), out, force=True)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_more_epochs_after_the_end_are_a_new_run_from_the_model(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    train(config, tmp_path / "run")
    with pytest.raises(DisconerError, match=rf"--set training\.start_from={tmp_path}/run --out ANOTHER_FOLDER"):
        train(changed(config, "training", epochs=2), tmp_path / "run", resume=True)
    longer = changed(config, "training", epochs=2, start_from=str(tmp_path / "run"))
    assert train(longer, tmp_path / "longer").folder.is_dir()


def test_the_configuration_of_a_run_works_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    monkeypatch.chdir(tmp_path)
    train(changed(config, "data", train="train.jsonl", dev="dev.jsonl"), Path("runs/one"))
    again = load_config("runs/one/config.yaml")
    assert (again.data.train, again.data.dev) == (str(tmp_path / "train.jsonl"), str(tmp_path / "dev.jsonl"))


def test_a_run_is_resumed_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the encoder and the model that it started from were named by relative paths."""
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    monkeypatch.chdir(tmp_path)
    named = changed(config, "encoder", name="encoder")
    train(named, "given")
    train(changed(named, "training", start_from="given"), "run")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    recorded = load_config("../run/config.yaml")
    assert (recorded.encoder.name, recorded.training.start_from) == (str(tmp_path / "encoder"), str(tmp_path / "given"))
    relative = changed(changed(config, "encoder", name="../encoder"), "training", start_from="../given")
    for again in (recorded, relative):
        assert train(again, "../run", resume=True).folder.is_dir()
    with pytest.raises(DisconerError, match=r"started with different settings.*encoder\.name ..*, not "):
        train(changed(recorded, "encoder", name="elsewhere"), "../run", resume=True)


def test_an_encoder_is_the_same_by_any_path_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "link")
    folder = RunFolder(tmp_path / "run")
    names = ["encoder", str(tmp_path / "encoder"), str(tmp_path / "link" / "encoder")]
    for recorded, resumed in permutations(names, 2):
        write_record(folder, changed(config, "encoder", name=recorded), {})
        check_record(folder, changed(config, "encoder", name=resumed), {})


def test_a_bundled_encoder_is_a_folder_of_its_name_only_if_that_is_an_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As training looks for it."""
    config = prepare(tmp_path, complaints(4), complaints(4), epochs=1)
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path)
    own, folder = tmp_path / "biomedical-minilm", RunFolder(tmp_path / "run")
    own.mkdir()
    named = changed(config, "encoder", name=own.name)
    write_record(folder, named, {})
    assert load_config(folder.config).encoder.name == own.name
    own.rmdir()
    (tmp_path / "encoder").rename(own)
    write_record(folder, named, {})
    assert load_config(folder.config).encoder.name == str(own)


def test_an_epoch_of_several_passes_is_as_many_epochs_of_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = {"encoder_rate": 1e-3, "head_rate": 1e-2}
    single = prepare(tmp_path, complaints(8), complaints(4), epochs=3, batch_tokens=1024, **rates)  # a step a pass
    train(single, tmp_path / "single")
    assert "a small corpus" not in capsys.readouterr().err
    train(changed(single, "training", epochs=1, steps_at_least=3), tmp_path / "several")
    assert "each epoch goes over it 3 times, for 3 steps in all" in capsys.readouterr().err
    records, (record,) = metrics(tmp_path / "single"), metrics(tmp_path / "several")
    assert record["loss"] == pytest.approx(sum(one["loss"] for one in records) / 3)  # per example, not per pass
    weights, expected = (load_file(tmp_path / run / "last" / "model.safetensors") for run in ("several", "single"))
    torch.testing.assert_close(weights, expected, rtol=0, atol=0)


def test_another_folder_is_not_touched(unbroken: Run, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"This folder already holds a training run\. Add --resume"):
        train(unbroken.config, str(unbroken.out))
    (tmp_path / "config.yaml").write_text("mine")
    for resume in (False, True):
        with pytest.raises(DisconerError, match="This folder is not empty"):
            train(unbroken.config, tmp_path, resume=resume)
        with pytest.raises(DisconerError, match="is an existing file"):
            train(unbroken.config, tmp_path / "config.yaml", resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]
    assert (tmp_path / "config.yaml").read_text() == "mine"


def test_data_that_nothing_can_be_learnt_from(tmp_path: Path) -> None:
    plain = [Document("a", "nothing here")]
    some = [annotated("ADR: pain", text="pain here", id="b")]
    config = prepare(tmp_path, plain, some)
    with pytest.raises(DisconerError, match="The training data has no entities"):
        train(config, tmp_path / "run")
    for dev, labels in ((plain, r"\(none\)"), ([annotated("Drug: here", text="pain here", id="b")], "Drug")):
        write(dev, tmp_path / "other.jsonl", force=True)
        config = prepare(tmp_path, some, some)
        with pytest.raises(DisconerError, match=rf"so epochs cannot be compared on it\. Got the labels {labels}"):
            train(changed(config, "data", dev=str(tmp_path / "other.jsonl")), tmp_path / "run")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DisconerError, match="There are no documents here"):
        train(changed(config, "data", dev=str(tmp_path / "empty.jsonl"), format="jsonl"), tmp_path / "run")


def test_entities_that_no_tokens_express(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = Document("inside", "headache", (Entity("ADR", ((0, 4),)),))
    config = prepare(tmp_path, [inside], complaints(4))
    with pytest.raises(DisconerError, match=r"None of 1 training entities can be learned\. Got 1 of 1 training"):
        train(config, tmp_path / "run")
    config = prepare(tmp_path, [inside, Document("empty", ""), *complaints(4)], complaints(4), epochs=1)
    train(config, tmp_path / "run", resume=True)
    assert (
        "training entities cannot be expressed by tokens of one sentence (1 starts or ends inside a token)"
        in capsys.readouterr().err
    )


def test_a_label_only_in_dev_is_warned_of_and_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = annotated("Finding: pain", text="pain here", id="odd")
    result = train(prepare(tmp_path, complaints(4), [*complaints(4), odd], epochs=1), tmp_path / "run")
    assert (
        "labels not in the training data, which can never be found and count as missed: Finding"
        in capsys.readouterr().err
    )
    counts = result.dev.labels["Finding"]
    assert (counts.gold, counts.found) == (1, 0)


def test_long_sentences_are_learnt_in_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The encoder takes 62 letters at once; this sentence has four times as many, and entities throughout."""
    phrase = "cramps in my feet and also "
    text = 12 * phrase
    mentions = [
        Entity("ADR", ((start, start + 6), (start + 13, start + 17))) for start in range(0, len(text), len(phrase))
    ]
    across = Entity("ADR", ((0, 6), (len(text) - 5, len(text) - 1)))
    long = Document("long", text, (*mentions, across))
    result = train(prepare(tmp_path, [long, *complaints(8)], [long], epochs=1), tmp_path / "run")
    said = capsys.readouterr().err
    assert "note: 2 of 25 training entities are cut where a sentence is too long for the encoder's window" in said
    assert result.dev.overall.gold == 13


def test_precision_that_the_machine_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    config = prepare(tmp_path, complaints(4), complaints(4), precision="fp16")
    with pytest.raises(DisconerError, match=r"cannot train with precision fp16"):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not cpu_trains_in(torch.bfloat16), reason="this CPU has no kernels for an LSTM in bf16")
def test_half_precision_after_full_in_one_process(unbroken: Run, tmp_path: Path) -> None:
    result = train(changed(unbroken.config, "training", precision="bf16", epochs=1), tmp_path / "run")
    assert result.best_epoch == 1


def test_the_rate_waits_while_steps_are_skipped(unbroken: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those in half precision are whose gradients overflow."""
    monkeypatch.setattr("accelerate.optimizer.AcceleratedOptimizer.step_was_skipped", True)
    train(changed(unbroken.config, "training", epochs=1), tmp_path / "run")
    record = json.loads((tmp_path / "run" / "metrics.jsonl").read_text("utf-8"))
    assert 0 < record["rate"] < unbroken.config.training.head_rate


def test_a_loss_that_is_no_number_stops_the_run(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(8), complaints(4), head_rate=1e30, encoder_rate=1e30, warmup=0.0)
    with pytest.raises(DisconerError, match="Loss became NaN or infinite in epoch 1"):
        train(config, tmp_path / "run")
    Recognizer.from_pretrained(tmp_path / "run")


def test_a_full_disk_ends_training_with_a_sentence_and_keeps_the_last_epoch(
    unbroken: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, n_saved = torch.save, 0

    def full(state: Any, stream: Any) -> None:
        nonlocal n_saved
        n_saved += 1
        if n_saved > 2:  # the state before the first epoch, and after it
            try:
                raise OSError(errno.ENOSPC, "No space left on device")
            finally:
                raise RuntimeError("unexpected pos 2476160 vs 2476052")  # as torch has it
        real(state, stream)

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(DisconerError, match=r"training\.pt: This file could not be written: the disk is full"):
        train(unbroken.config, tmp_path / "run")
    monkeypatch.setattr(torch, "save", real)
    assert RunFolder(tmp_path / "run").can_resume
    train(unbroken.config, tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "metrics.jsonl").read_text().count("\n") == unbroken.config.training.epochs
