from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from disconer import DisconerError, Document, Entity, Sentence
from disconer.bench.laps import Laps, WatchedModel, batches_of
from disconer.bench.measurements import Report, bench
from disconer.bench.tables import heading, notes, tables
from disconer.bench.timing import PARTS, Settings
from disconer.predict.loading import load
from disconer.store.checkpoint import Model, save_model
from nn.toy import letter_model, lively, toy_model
from once import with_graphs_once

TEXTS = ["p in my k.\nnothing here", "no k, 2 p and k", "a longer one with a p, a k and another k in it."]
DOCUMENTS = [Document(str(number), text, (Entity("ADR", [(0, 1)]),)) for number, text in enumerate(TEXTS)]
BETWEEN_RUNTIMES = ("runtimes", "startup")


@pytest.fixture(scope="module")
def model() -> Model:
    return letter_model()


@pytest.fixture(scope="module")
def report(model: Model) -> Report:
    parts = tuple(part for part in PARTS if part not in BETWEEN_RUNTIMES)
    return bench(model, DOCUMENTS, Settings(parts=parts, repeats=3, device="cpu"))


def test_the_json_has_all_parts(report: Report) -> None:
    found = json.loads(json.dumps(report.to_dict()))
    assert set(found) == {"environment", "settings", "sample", *PARTS}
    assert found["sample"]["sentences"] == 4
    assert found["throughput"]["entities"] > 0
    assert found["training"]["steps"] == 1  # one pass over the sample, however many a training would make
    for part, jobs in (
        ("throughput", ("end_to_end", "encoder", "encoder_own_batches")),
        ("latency", ("end_to_end", "encoder")),
        ("training", ("step", "encoder")),
    ):
        for job in jobs:
            assert len(found[part][job]["seconds"]) == 3
            assert min(found[part][job]["seconds"]) > 0
        ratio = found[part]["ratio"]
        assert 0 < ratio["low"] <= ratio["high"]
    assert found["memory"]["process"] > 10
    assert found["memory"]["cuda"] is None
    assert {"processor", "threads", "torch", "load"} <= set(found["environment"])


def test_ratios_say_what_they_mean(report: Report) -> None:
    """A share of the encoder's speed in prediction, a multiple of its time in training."""
    prediction, training = report.throughput, report.training
    assert prediction is not None
    assert training is not None
    speeds = prediction.per_second(prediction.end_to_end) / prediction.per_second(prediction.encoder)
    assert prediction.ratio.value == pytest.approx(speeds)
    assert training.ratio.value == pytest.approx(training.step.median / training.encoder.median)
    assert training.ratio.value > 1  # the step has the same encoder in it


def test_stages_add_up_to_the_run(report: Report) -> None:
    stages = report.stages
    assert stages is not None
    present = ["split", "words", "subwords", "collate", "encode", "spans", "pairs", "decode", "assemble"]
    assert list(stages.seconds) == present
    assert stages.sum == pytest.approx(stages.staged.median, rel=0.5)  # medians of medians, on a busy machine


def test_parts_of_a_larger_network() -> None:
    """BiLSTM and GCN are stages where a network has them; heads are those of the data."""
    model = lively(toy_model(encoder={"lstm": {"size": 8}}, syntax={"parser": "data", "gcn": {"size": 8, "heads": 2}}))
    parsed = Document("a", "p in k", sentences=(Sentence(0, 6, ((0, 1), (2, 4), (5, 6)), (-1, 0, 1)),))
    found = bench(model, [parsed], Settings(parts=("stages", "latency"), repeats=1, device="cpu", given=True))
    assert found.stages is not None
    assert {"parse", "BiLSTM", "GCN"} <= set(found.stages.seconds)
    assert not {"split", "words"} & set(found.stages.seconds)
    assert found.throughput is found.training is found.memory is None


def test_measuring_leaves_the_model_alone(model: Model, report: Report) -> None:
    fresh = letter_model()
    assert all(map(torch.equal, model.network.state_dict().values(), fresh.network.state_dict().values()))
    assert not any(module._forward_hooks for module in model.network.modules())


def test_models_of_other_runtimes(model: Model) -> None:
    """They are measured against the encoder of another model, and their network is one stage."""
    other = WatchedModel(model, model.reader, lambda runtime: runtime)
    settings = Settings(repeats=1, device="cpu")
    found = bench(other, DOCUMENTS, settings, encoder=model)
    assert found.training is None
    assert found.stages is not None
    assert "network and decode" in found.stages.seconds
    with pytest.raises(DisconerError, match=r"no encoder that torch can run.*--encoder"):
        bench(other, DOCUMENTS, settings)


@pytest.mark.slow
def test_runtime_against_runtime(model: Model, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The bare encoder runs where the model does; the start of a process is measured in each runtime."""
    save_model(with_graphs_once(tmp_path_factory, model), tmp_path)
    stored = load(tmp_path, runtime="onnx")
    settings = Settings(parts=("latency", *BETWEEN_RUNTIMES), repeats=1, device="cpu")
    report = bench(stored, DOCUMENTS, settings, other=model, folder=tmp_path)
    found = json.loads(json.dumps(report.to_dict()))
    assert found["latency"]["ratio"]["value"] > 0
    for runtime in ("onnx", "torch"):
        assert found["runtimes"][runtime]["milliseconds"] > 0
        assert found["startup"][runtime]["median"] > 0.1
    assert found["startup"]["onnx"]["memory"] < found["startup"]["torch"]["memory"]
    titles = [table.title for table in tables(report)]
    assert titles[1:] == ["Runtime against runtime", "Start of a process to its first answer"]


def test_the_recognisers_own_batches(model: Model) -> None:
    lengths = [batch.lengths.tolist() for batch in batches_of(model, DOCUMENTS, "cpu")]
    assert sorted(length for batch in lengths for length in batch) == [2, 5, 7, 15]


def test_laps_belong_to_what_has_passed() -> None:
    now = [0.0]
    laps = Laps(lambda: now[0])
    for seconds in (5.0, 1.0, 3.0):
        laps.begin()
        for stage in ("split", "encode", "split"):
            now[0] += seconds
            laps.passed(stage)
    assert laps.rounds[0] == {"split": 10.0, "encode": 5.0}
    assert laps.medians(2) == {"split": 4.0, "encode": 2.0}  # the first round was to warm up


def test_tables(report: Report) -> None:
    made = {table.title: table for table in tables(report)}
    assert len(made) == len(PARTS) - len(BETWEEN_RUNTIMES)
    for table in made.values():
        assert all(len(row) == len(table.columns) for section in table.sections for row in section)
    assert any("4 sentences" in line for line in heading(report, "m"))
    assert not list(notes(report))
    assert report.throughput is not None
    (note,) = notes(replace(report, throughput=replace(report.throughput, n_entities=0)))
    assert "finds no entities here" in note


def test_what_cannot_be_measured(model: Model) -> None:
    with pytest.raises(DisconerError, match="This machine has no device 'warp:9' that torch can use"):
        bench(model, DOCUMENTS, Settings(device="warp:9"))
    bare = [document.replace(entities=()) for document in DOCUMENTS]
    with pytest.raises(DisconerError, match=r"nothing to train on.*--no-training"):
        bench(model, bare, Settings(parts=("training",), device="cpu", repeats=1))


@pytest.mark.slow
def test_int8_against_fp32_in_its_own_runtime(
    model: Model, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """There is none in torch, so that neither it nor a training step is measured, and the bare encoder is in fp32."""
    save_model(with_graphs_once(tmp_path_factory, model), tmp_path)
    settings = Settings(repeats=1, precision="int8")
    report = bench(load(tmp_path, runtime="onnx"), DOCUMENTS, settings, other=model, folder=tmp_path)
    assert report.runtimes is not None
    assert report.startup is not None
    assert report.latency is not None
    assert list(report.runtimes.many) == list(report.startup) == ["onnx, int8", "onnx"]
    assert report.training is None
    assert any("int8 is ONNX Runtime's alone" in note for note in notes(report))
