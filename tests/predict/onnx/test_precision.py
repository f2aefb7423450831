"""int8 in ONNX Runtime: close to fp32, the same in any batch, and chosen only where it is known to pay."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu

from disconer import DisconerError, Recognizer, write
from disconer.cli.evaluate import evaluate_files
from disconer.core.places import BUNDLED_MODELS, CONFIG
from disconer.export.network_graph import OPSET
from disconer.export.quantize import quantize
from disconer.nn.weights import quantized
from disconer.predict.loading import load
from disconer.predict.onnx import model as onnx_model
from disconer.predict.onnx import runtime as onnx_runtime
from disconer.predict.onnx.runtime import session_of
from disconer.serve.settings import Loading, load_recognizers
from disconer.store.description import INT8, is_proven, read_description

needs_models = pytest.mark.skipif(
    not BUNDLED_MODELS.is_dir(), reason="models are not in this checkout: see recipes/README.md"
)
TEXTS = [
    "Severe cardiac, hepatic or renal insufficiency within the last 6 months.",
    "Pregnant or breast-feeding women.",
    "Known allergy to penicillin, or to any of the excipients of the study drug.",
]


def found(recognizer: Recognizer, texts: list[str]) -> list[list[tuple[object, float | None]]]:
    return [[(entity.key, entity.score) for entity in document.entities] for document in recognizer.pipe(texts)]


def test_a_matrix_is_off_by_half_a_step_at_most() -> None:
    matrix = np.random.default_rng(1).normal(size=(6, 96)).astype(np.float32)
    matrix[2] = 0
    values, scales = quantized(matrix)
    assert (values.shape, values.dtype, scales.shape) == ((96, 6), np.int8, (6,))
    assert (np.abs(values * scales - matrix.T) <= scales / 2 + 1e-6).all()


def product_graph(matrix: np.ndarray, activation: str | None = None) -> bytes:
    """A graph of one product, with 8 bits."""
    from onnx import TensorProto, helper, numpy_helper

    inputs, nodes = "x", []
    if activation is not None:
        nodes, inputs = [helper.make_node(activation, ["x"], ["activated"])], "activated"
    graph = helper.make_graph(
        [*nodes, helper.make_node("MatMul", [inputs, "matrix"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", matrix.shape[1]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", matrix.shape[0]])],
        [numpy_helper.from_array(matrix.T.copy(), "matrix")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    quantize(model)
    assert "MatMulIntegerToFloat" in {node.op_type for node in model.graph.node}
    return model.SerializeToString()


@pytest.mark.parametrize("old", [False, True])
def test_the_largest_products_do_not_overflow_whatever_the_processor(
    old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if old:
        monkeypatch.setattr(onnx_runtime, "has_vnni", lambda: False)
    matrix = np.full((64, 384), 127, np.float32)
    rows = np.full((3, 384), 127, np.float32) * np.array([[1], [-1], [0]], np.float32)
    (product,) = session_of(product_graph(matrix), Path("product"))({"x": rows})
    assert (product == rows @ matrix.T).all()


@pytest.mark.parametrize("activation", [None, "Gelu"])
def test_a_row_is_rounded_by_itself(activation: str | None) -> None:
    random = np.random.default_rng(2)
    matrix, rows = random.normal(size=(48, 96)).astype(np.float32), random.normal(size=(5, 96)).astype(np.float32)
    rows[3] *= 1000
    rows[4] = 0
    session = session_of(product_graph(matrix, activation), Path("product"))
    (together,) = session({"x": rows})
    expected = (rows if activation is None else gelu(torch.from_numpy(rows)).numpy()) @ matrix.T
    sizes = np.abs(expected).max(1, keepdims=True)
    assert (np.abs(together - expected) <= 0.03 * sizes + 1e-5).all()
    alone = np.concatenate([session({"x": row[None]})[0] for row in rows])
    assert (alone == together).all()


@needs_models
def test_a_text_gets_the_same_entities_in_any_batch() -> None:
    ner = Recognizer.from_pretrained("clinical-trials", runtime="onnx", precision="int8")
    together = found(ner, TEXTS)
    for text, expected in zip(TEXTS, together, strict=True):
        (alone,) = found(ner, [text])
        assert [key for key, _ in alone] == [key for key, _ in expected]
        assert [score for _, score in alone] == pytest.approx([score for _, score in expected], abs=0.01)
    exact = found(Recognizer.from_pretrained("clinical-trials", runtime="onnx"), TEXTS)
    assert together != exact  # or it was not computed with 8 bits
    assert [len(one) for one in together] == [len(one) for one in exact]


@needs_models
@pytest.mark.parametrize("name", ["clinical-trials", "biomedical", "pharmacovigilance", "patient-posts"])
def test_the_cards_of_bundled_models_prove_their_loss(name: str) -> None:
    assert is_proven(read_description(BUNDLED_MODELS / name))
    assert "Computed with 8 bits" in (BUNDLED_MODELS / name / "README.md").read_text("utf-8")


@needs_models
@pytest.mark.parametrize(
    ("vnni", "after", "expected"), [(True, 0.698, True), (True, 0.696, False), (True, None, False), (False, 0.7, False)]
)
def test_auto_takes_int8_where_it_pays(
    vnni: bool, after: float | None, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(BUNDLED_MODELS / "clinical-trials", runtime="onnx").save(tmp_path)
    description = read_description(tmp_path)
    description.pop(INT8)
    if after is not None:
        description[INT8] = {"before": {"f1": 0.7}, "after": {"f1": after}}
    (tmp_path / CONFIG).write_text(json.dumps(description))
    monkeypatch.setattr(onnx_model, "has_vnni", lambda: vnni)
    chosen: list[bool] = []
    make = onnx_model.stored_sessions

    def watched(*arguments: object, int8: bool) -> object:
        chosen.append(int8)
        return make(*arguments, int8=int8)  # type: ignore[arg-type]

    monkeypatch.setattr(onnx_model, "stored_sessions", watched)
    Recognizer.from_pretrained(tmp_path, device="cpu", precision="auto")
    assert chosen == [expected]


@needs_models
def test_evaluate_runs_a_model_in_the_precision_asked_for(tmp_path: Path) -> None:
    ner = Recognizer.from_pretrained("clinical-trials", runtime="onnx")
    write(ner.pipe(TEXTS), gold := tmp_path / "gold.jsonl")
    in_fp32, in_int8 = (
        evaluate_files(gold, model="clinical-trials", precision=precision) for precision in ("fp32", "int8")
    )
    assert in_fp32.overall.f1 == 1
    assert in_fp32.calibration != in_int8.calibration


@needs_models
def test_a_service_loads_models_in_the_precision_asked_for() -> None:
    (served,) = load_recognizers({"m": "clinical-trials"}, Loading(precision="int8")).values()
    assert found(served, TEXTS) == found(Recognizer.from_pretrained("clinical-trials", precision="int8"), TEXTS)
    with pytest.raises(DisconerError, match="no precision 'int4'"):
        load_recognizers({"m": "clinical-trials"}, Loading(precision="int4"))  # type: ignore[arg-type]


@needs_models
def test_spacy_runs_a_model_in_the_precision_asked_for() -> None:
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'disconer[spacy]'")
    scores = []
    for precision in ("fp32", "int8"):
        nlp = spacy.blank("en")
        nlp.add_pipe("disconer", config={"precision": precision})
        scores.append(nlp(TEXTS[0]).spans["disconer"].attrs["scores"])
    assert scores[0] != scores[1]
    assert scores[0] == pytest.approx(scores[1], abs=0.2)


@needs_models
def test_torch_has_no_int8() -> None:
    with pytest.raises(DisconerError, match="torch does not run a model in int8"):
        Recognizer.from_pretrained("clinical-trials", runtime="torch", precision="int8")
