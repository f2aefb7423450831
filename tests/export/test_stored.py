"""Graphs beside a model's weights: it runs in ONNX Runtime as it is stored, and finds what torch does."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from disconer import DisconerError
from disconer.core.errors import DisconerWarning
from disconer.core.places import BUNDLED_MODELS
from disconer.export import stored as stored_graphs
from disconer.export.compact import save_compact
from disconer.export.stored import graphs_ahead, make_graphs, with_graphs
from disconer.nn.heads.span.kind import SpanKind
from disconer.predict import loading
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, load_model, save_model
from disconer.store.description import read_description
from disconer.store.graphs import UNKNOWN, NoGraphs, StoredGraphs, read_graphs, write_graphs
from disconer.store.weights import ModelWeights
from export.test_onnx import found, vector_model
from nn.toy import letter_model, lively, toy_model
from once import graphs_once, with_graphs_once

SYNTAX = {"parser": "data", "gcn": {"size": 4, "blocks": 2, "heads": 1, "first_layers": 2, "further_layers": 1}}
NO_CONTEXT: dict[str, Any] = {"layers": 0, "encoder": {"lstm": None}}  # traced in half the time
MODELS: dict[str, dict[str, Any]] = {
    "span, BiLSTM and GCN": {"encoder": {"lstm": {"size": 8, "layers": 2}}, "syntax": SYNTAX},
    "span, capitals, mix of layers": {"case": True, "encoder": {"lstm": None, "pooling": "max", "layers": "mix"}},
    "tagger": {**NO_CONTEXT, "head": {"kind": "tagger", "scheme": "BIOHD"}},
    "sequence": {**NO_CONTEXT, "head": {"kind": "sequence", "size": 8}},
    "grid": {**NO_CONTEXT, "head": {"kind": "grid", "threshold": 0.3}},
}
SAVE: dict[str, Callable[[Model, Path], None]] = {"whole": save_model, "compact": save_compact}


def made(name: str) -> Model:
    if name == "word vectors":
        return vector_model()
    torch.manual_seed(5)
    model = toy_model(**({"layers": 1} | MODELS[name]))
    if model.config.head.kind == "span":
        return lively(model)
    with torch.no_grad():
        for parameter in model.network.head.parameters():
            parameter.normal_(0, 1 if parameter.ndim > 1 else 0.1)
    return model


@pytest.fixture(scope="module", params=[*MODELS, "word vectors"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Model:
    known = with_graphs_once(tmp_path_factory, made(request.param))
    assert isinstance(known.graphs, StoredGraphs), known.graphs
    return known


@pytest.mark.slow
@pytest.mark.parametrize("form", SAVE)
def test_both_runtimes_find_the_same(model: Model, form: str, tmp_path: Path) -> None:
    if form == "compact" and model.config.encoder.kind == "vectors":
        pytest.skip("the table of this toy is not where its configuration says")
    SAVE[form](model, tmp_path)
    in_onnx = Recognizer.from_pretrained(tmp_path, runtime="onnx")
    rounded = model if form == "whole" else load_model(tmp_path)
    in_torch = Recognizer(rounded, device="cpu")
    assert (in_onnx.runtime, in_torch.runtime) == ("onnx", "torch")
    assert "runtime='onnx', device='cpu'" in repr(in_onnx)
    expected, ours = found(in_torch), found(in_onnx)
    assert len(expected) > 4
    assert [entity for entity, _ in ours] == [entity for entity, _ in expected]
    # A CRF adds up the scores of a whole sentence, which costs digits.
    close = 5e-4 if model.config.head.kind == "tagger" else 1e-4
    assert [score for _, score in ours] == pytest.approx([score for _, score in expected], abs=close)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["span, BiLSTM and GCN", "grid"], indirect=True)
def test_graphs_hold_no_weights(model: Model) -> None:
    """So they are small, and those of other weights are the same."""
    assert isinstance(model.graphs, StoredGraphs)
    twice = replace(model, network=model.network)
    with torch.no_grad():
        for parameter in twice.network.parameters():
            parameter.mul_(0.5)
    again = make_graphs(twice)
    with torch.no_grad():
        for parameter in twice.network.parameters():
            parameter.mul_(2)
    assert isinstance(again, StoredGraphs)
    assert {name: graph.onnx for name, graph in again.graphs.items()} == {
        name: graph.onnx for name, graph in model.graphs.graphs.items()
    }


@pytest.mark.parametrize("name", ["clinical-trials", "biomedical", "pharmacovigilance", "patient-posts"])
def test_bundled_models_run_as_they_are_stored(name: str) -> None:
    folder = BUNDLED_MODELS / name
    graphs = read_graphs(folder)
    assert isinstance(graphs, StoredGraphs)
    assert sum(path.stat().st_size for path in (folder / "onnx").iterdir()) < 160_000
    text = "Severe cardiac, hepatic or renal insufficiency; rash after IL-2 and IL-4 receptor antibodies."
    in_onnx, in_torch = (Recognizer.from_pretrained(name, runtime=one, device="cpu")(text) for one in ("onnx", "torch"))
    assert [entity.key for entity in in_onnx.entities] == [entity.key for entity in in_torch.entities]
    assert in_onnx.entities
    for ours, theirs in zip(in_onnx.entities, in_torch.entities, strict=True):
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)


def test_weights_unpacked_without_torch_are_the_same() -> None:
    folder = BUNDLED_MODELS / "pharmacovigilance"
    weights = ModelWeights(folder, read_description(folder))
    for name, weight in load_model(folder).network.state_dict().items():
        np.testing.assert_array_equal(weights.read(name, tuple(weight.shape)), weight.numpy(), err_msg=name)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    save_model(with_graphs_once(tmp_path_factory, letter_model()), folder)
    return folder


def test_the_runtime_is_chosen(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "gpu_is_here", lambda: False)
    assert Recognizer.from_pretrained(stored).runtime == "onnx"
    assert Recognizer.from_pretrained(stored, device="cpu").runtime == "onnx"
    assert Recognizer.from_pretrained(stored, precision="bf16").runtime == "torch"
    monkeypatch.setattr(loading, "gpu_is_here", lambda: True)
    assert isinstance(loading.load(stored), Model)
    assert Recognizer.from_pretrained(stored, device="cpu").runtime == "onnx"
    with pytest.raises(DisconerError, match=r"ONNX Runtime runs only on the CPU. Got device cuda"):
        Recognizer.from_pretrained(stored, runtime="onnx", device="cuda")


def test_saved_again_it_keeps_its_graphs(stored: Path, tmp_path: Path) -> None:
    for runtime in ("onnx", "torch"):
        Recognizer.from_pretrained(stored, runtime=runtime).save_pretrained(tmp_path / runtime)  # type: ignore[arg-type]
        again = Recognizer.from_pretrained(tmp_path / runtime, runtime="onnx")
        assert again("p in my k") == Recognizer.from_pretrained(stored)("p in my k")


def test_a_model_without_graphs_runs_in_torch_and_says_so(tmp_path: Path) -> None:
    save_model(letter_model(), tmp_path)
    with pytest.warns(DisconerWarning, match="runs in torch, as it has no graph for ONNX Runtime: it was"):
        assert Recognizer.from_pretrained(tmp_path).runtime == "torch"
    with pytest.raises(DisconerError, match=r"does not run in ONNX .* Got it was saved without graphs.*export MODEL"):
        Recognizer.from_pretrained(tmp_path, runtime="onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # who asks for torch needs no explanation
        Recognizer.from_pretrained(tmp_path, runtime="torch")


def test_a_head_without_graphs_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(SpanKind, "graphs")  # as a kind of another package that has none
    model = with_graphs(letter_model())
    assert isinstance(model.graphs, NoGraphs)
    save_model(model, tmp_path)
    with pytest.warns(DisconerWarning, match="A head of kind span has no ONNX graph"):
        assert Recognizer.from_pretrained(tmp_path).runtime == "torch"
    for settings in ({"runtime": "onnx"}, {"precision": "int8"}):  # no other export can help
        with pytest.raises(DisconerError, match=r"does not run in ONNX.*no ONNX graph. Run it in torch") as caught:
            Recognizer.from_pretrained(tmp_path, **settings)  # type: ignore[arg-type]
        assert "export" not in str(caught.value)


@pytest.mark.parametrize(("file", "content"), [("graphs.json", b"{}"), ("graphs.json", b"[1"), ("network.onnx", b"?")])
def test_damaged_graphs_are_named(file: str, content: bytes, stored: Path, tmp_path: Path) -> None:
    Recognizer.from_pretrained(stored).save_pretrained(tmp_path)
    (tmp_path / "onnx" / file).write_bytes(content)
    with pytest.raises(DisconerError, match=f"(?s){file}.*damaged"):
        Recognizer.from_pretrained(tmp_path, runtime="onnx")
    (tmp_path / "onnx" / "network.onnx").unlink()
    with pytest.raises(DisconerError, match=r"(?s)(network\.onnx|graphs\.json).*damaged"):
        Recognizer.from_pretrained(tmp_path, runtime="onnx")


def test_graphs_lead_out_of_no_folder_and_take_no_memory_without_end(stored: Path, tmp_path: Path) -> None:
    Recognizer.from_pretrained(stored).save_pretrained(tmp_path / "model")
    index = tmp_path / "model" / "onnx" / "graphs.json"
    sound = json.loads(index.read_text())
    (tmp_path / "elsewhere.onnx").write_bytes(b"")
    outside = {"graphs": sound["graphs"] | {"../../elsewhere": sound["graphs"]["network"]}}
    index.write_text(json.dumps(sound | outside))
    with pytest.raises(DisconerError, match=r"'../../elsewhere' is not the name of a graph"):
        Recognizer.from_pretrained(tmp_path / "model", runtime="onnx")
    for sizes in ([2**40, 2**20], [-1], [2**30, 2**1]):
        network = sound["graphs"]["network"]
        changed = network | {"constants": network["constants"] | {"huge": sizes}}
        index.write_text(json.dumps(sound | {"graphs": sound["graphs"] | {"network": changed}}))
        with pytest.raises(DisconerError, match=r"(?s)(damaged|not enough memory)"):
            Recognizer.from_pretrained(tmp_path / "model", runtime="onnx")


def test_damaged_weights_are_named(stored: Path, tmp_path: Path) -> None:
    Recognizer.from_pretrained(stored).save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    whole = path.read_bytes()
    for damaged in (whole[:4], whole[: len(whole) // 2], b"\xff" * 99):
        path.write_bytes(damaged)
        with pytest.raises(DisconerError, match=r"model\.safetensors: The weights of this model are damaged"):
            Recognizer.from_pretrained(tmp_path, runtime="onnx")


def test_a_reason_is_read_again(tmp_path: Path) -> None:
    write_graphs(tmp_path, NoGraphs("its head is new"))
    assert read_graphs(tmp_path) == NoGraphs("its head is new")
    assert json.loads((tmp_path / "onnx" / "graphs.json").read_bytes()) == {"none": "its head is new"}


# By another process, while a model is trained


@pytest.mark.slow
def test_graphs_of_another_process_are_those_that_this_one_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = letter_model()
    expected = graphs_once(tmp_path_factory, model)
    save_model(model, tmp_path)
    monkeypatch.setattr(stored_graphs, "make_graphs", lambda model: pytest.fail("made again"))
    with graphs_ahead(tmp_path, now=True) as ahead:
        assert ahead.of(model) == expected
    assert read_graphs(tmp_path) is UNKNOWN  # the folder is the run's alone


@pytest.mark.slow
def test_if_the_other_process_fails_they_are_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_graphs, "make_graphs", lambda model: "made here")
    with graphs_ahead(tmp_path / "no model", now=True) as ahead:
        assert ahead.of(letter_model()) == "made here"
