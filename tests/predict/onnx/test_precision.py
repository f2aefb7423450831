"""int8 in ONNX Runtime: close to fp32, the same in any batch, and chosen only where it is known to pay."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from disconer import DisconerError, Recognizer
from disconer.core.files import BUNDLED_MODELS, CONFIG
from disconer.nn.weights import MIDDLE, block_size, quantized
from disconer.predict.loading import load
from disconer.predict.onnx import model as onnx_model
from disconer.predict.onnx import processor
from disconer.predict.onnx.processor import has_vnni
from disconer.store.description import INT8, is_proven, read_description

TEXTS = [
    "Severe cardiac, hepatic or renal insufficiency within the last 6 months.",
    "Pregnant or breast-feeding women.",
    "Known allergy to penicillin, or to any of the excipients of the study drug.",
]


def found(recognizer: Recognizer, texts: list[str]) -> list[list[tuple[object, float | None]]]:
    return [[(entity.key, entity.score) for entity in document.entities] for document in recognizer.pipe(texts)]


def test_a_block_is_off_by_half_a_step_at_most() -> None:
    matrix = np.random.default_rng(1).normal(size=(6, 96)).astype(np.float32)
    matrix[2] = 0
    values, scales = quantized(matrix, 32)
    assert values.shape == (6, 3, 32)
    again = ((values.astype(np.float32) - MIDDLE) * scales.reshape(6, 3, 1)).reshape(6, 96)
    assert (np.abs(again - matrix) <= scales.reshape(6, 3).repeat(32, 1) / 2 + 1e-6).all()
    assert [block_size(n) for n in (384, 96, 16, 30)] == [128, 32, 16, None]


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


@pytest.mark.parametrize("name", ["clinical-trials", "biomedical", "pharmacovigilance", "patient-posts"])
def test_the_cards_of_bundled_models_prove_their_loss(name: str) -> None:
    assert is_proven(read_description(BUNDLED_MODELS / name))
    assert "Computed with 8 bits" in (BUNDLED_MODELS / name / "README.md").read_text("utf-8")


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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("flags\t\t: fpu avx2 avx512_vnni", True),
        ("Features\t: fp asimd asimddp", True),
        ("flags\t\t: fpu avx2", False),
        ("model name\t: avx512_vnni", False),
    ],
)
def test_what_a_processor_can_do(line: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\n{line}\n")
    monkeypatch.setattr(processor, "CPUINFO", tmp_path / "cpuinfo")
    assert has_vnni.__wrapped__() is expected
    monkeypatch.setattr(processor, "CPUINFO", tmp_path / "none")
    assert has_vnni.__wrapped__() is False


def test_torch_has_no_int8() -> None:
    with pytest.raises(DisconerError, match="torch does not run a model in int8"):
        Recognizer.from_pretrained("clinical-trials", runtime="torch", precision="int8")
