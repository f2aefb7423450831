from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from disconer import DisconerError, Document, Sentence
from disconer.core.cores import chosen_threads
from disconer.export.onnx import export_model
from disconer.nn.encoders.vectors import N_SPECIAL, WordReader
from disconer.nn.encoders.vectors.encoder import CharacterCnn, VectorWords
from disconer.nn.heads.span import reading
from disconer.nn.network import build_network
from disconer.nn.weights import rounded_to_8_bits
from disconer.predict.onnx.model import OnnxModel
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, save_model
from nn.toy import lively, toy_config, toy_model
from once import made_once

pytestmark = pytest.mark.slow

TEXTS = [
    "Pain and stiffness in my knees, after 5 mg aspirin. No fever.",
    "p",
    "k " * 90,  # more than one window
    "Swollen hands; swollen feet (both); 3 tablets of a-b-c twice a day, then none.",
]
SYNTAX = {"parser": "data", "gcn": {"size": 4, "blocks": 2, "heads": 1, "first_layers": 2, "further_layers": 1}}
MODELS: dict[str, dict[str, Any]] = {
    "BiLSTM and GCN": {"encoder": {"lstm": {"size": 8, "layers": 2}}, "syntax": SYNTAX},
    "many labels, any width": {
        "encoder": {"lstm": None, "pooling": "max", "layers": "mix"},
        "head": {"labels": "many", "max_width": None},
    },
    "capitals, mean of subwords": {"case": True, "encoder": {"lstm": None, "pooling": "mean"}},
}
SMALL = "BiLSTM"
MODELS_OF_8_BITS = {SMALL: {"encoder": {"lstm": {"size": 8}}}}


def documents() -> list[Document]:
    """Texts with sentences of words; every second one has heads, each word the one before it."""
    made = []
    for number, text in enumerate(TEXTS):
        tokens, place = [], 0
        for word in text.split():
            place = text.index(word, place)
            tokens.append((place, place + len(word)))
            place += len(word)
        heads = tuple(range(-1, len(tokens) - 1)) if number % 2 == 0 else None
        sentence = Sentence(0, len(text), tuple(tokens), heads)
        made.append(Document(f"d{number}", text, sentences=(sentence,)))
    return made


def vector_model() -> Model:
    config = toy_config(
        encoder={"kind": "vectors", "name": "v", "characters": {}}, head={"relations": {"enabled": False}}
    )
    words = [word.lower() for word in TEXTS[0].split()]
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(N_SPECIAL + len(words), 12, generator=generator)
    torch.manual_seed(2)
    characters = CharacterCnn(size=5, filters=6, width=3)
    encoder = VectorWords(table=table, characters=characters, unknown=0.0)
    network = build_network(config, ("ADR", "Drug"), encoder).eval()
    with torch.no_grad():
        for parameter in network.head.fragments.parameters():
            parameter.normal_(0, 1, generator=generator)
    return Model(network, WordReader(words, spelled=True), config, ("ADR", "Drug"))


def made(name: str) -> Model:
    if name == "word vectors":
        return vector_model()
    torch.manual_seed(5)
    return lively(toy_model(layers=1, **(MODELS | MODELS_OF_8_BITS)[name]))


@pytest.fixture(scope="module", params=[*MODELS, "word vectors"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    return made(request.param), made_once(tmp_path_factory, f"exported {request.param}", partial(export, request.param))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    return made(SMALL), made_once(tmp_path_factory, f"exported {SMALL}", partial(export, SMALL))


def export(name: str, folder: Path) -> Path:
    export_model(made(name), folder, int8=name in MODELS_OF_8_BITS)
    return folder


def found(recognizer: Recognizer) -> list[tuple[str, float]]:
    return [
        (f"{document.id} {entity.key}", entity.score or 0.0)
        for document in recognizer.annotate(documents())
        for entity in document.entities
    ]


def test_the_same_entities_and_scores(exported: tuple[Model, Path]) -> None:
    model, folder = exported
    before, after = found(Recognizer(model)), found(Recognizer.from_pretrained(folder))
    assert len(before) > len(TEXTS)
    assert [entity for entity, _ in after] == [entity for entity, _ in before]
    assert [score for _, score in after] == pytest.approx([score for _, score in before], abs=1e-4)


def test_exporting_leaves_the_model_as_it_was(small: tuple[Model, Path]) -> None:
    assert found(Recognizer(small[0])) == found(Recognizer(made(SMALL)))


def test_saved_over_another_model_it_is_this_one_that_is_loaded(small: tuple[Model, Path], tmp_path: Path) -> None:
    torch.manual_seed(6)
    save_model(lively(toy_model(("Other",))), tmp_path)
    ner = Recognizer.from_pretrained(small[1])
    ner.save_pretrained(tmp_path)
    assert found(Recognizer.from_pretrained(tmp_path)) == found(ner)
    save_model(toy_model(("Other",)), tmp_path)
    assert Recognizer.from_pretrained(tmp_path).labels == ("Other",)


def test_other_encoders_are_refused(tmp_path: Path) -> None:
    model = vector_model()
    other = model.config.encoder.model_copy(update={"kind": "elmo"})
    with pytest.raises(DisconerError, match="kind elmo"):
        export_model(replace(model, config=model.config.model_copy(update={"encoder": other})), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_pairs_are_scored_in_parts(exported: tuple[Model, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    ner = Recognizer.from_pretrained(exported[1])
    whole = found(ner)
    monkeypatch.setattr(reading, "PAIRS_AT_ONCE", 3)
    assert found(ner) == [(entity, pytest.approx(score, abs=1e-6)) for entity, score in whole]


def test_eight_bits(small: tuple[Model, Path]) -> None:
    model, folder = small
    before, after = (dict(found(ner)) for ner in (Recognizer(model), Recognizer.from_pretrained(folder)))
    shared = before.keys() & after.keys()
    assert len(shared) > 0.7 * len(before)  # random weights leave many decisions on the edge
    assert before != after
    model_after = Recognizer.from_pretrained(folder).model
    assert isinstance(model_after, OnnxModel)
    assert model_after.int8
    n_numbers = sum(parameter.numel() for parameter in model.network.head.relations.parameters())
    assert (folder / "pairs.onnx").stat().st_size < 2 * n_numbers  # 4 bytes each before


def test_nothing_tells_of_this_machine(exported: tuple[Model, Path]) -> None:
    for path in exported[1].iterdir():
        assert str(Path(__file__).parents[2]).encode() not in path.read_bytes()
        assert b"site-packages" not in path.read_bytes()


def test_saved_again(small: tuple[Model, Path], tmp_path: Path) -> None:
    ner = Recognizer.from_pretrained(small[1])
    ner.save_pretrained(tmp_path / "copy")
    ner.save_pretrained(small[1])  # over itself
    assert found(Recognizer.from_pretrained(tmp_path / "copy")) == found(ner)


def test_the_card_says_what_it_is(small: tuple[Model, Path]) -> None:
    assert "an export for ONNX Runtime, with weights quantised to 8 bits" in (small[1] / "README.md").read_text("utf-8")


@pytest.mark.parametrize("options", [{"device": "cuda"}, {"precision": "bf16"}])
def test_it_runs_on_the_cpu_as_it_is(small: tuple[Model, Path], options: dict[str, Any]) -> None:
    model = Recognizer.from_pretrained(small[1]).model
    with pytest.raises(DisconerError, match=r"ONNX Runtime.*exported from"):
        model.runtime(**options)


@pytest.mark.parametrize("name", ["network.onnx", "pairs.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(name: str, small: tuple[Model, Path], tmp_path: Path) -> None:
    Recognizer.from_pretrained(small[1]).save_pretrained(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:99])
    with pytest.raises(DisconerError, match=f"(?s)damaged.*{name}|{name}.*damaged"):
        Recognizer.from_pretrained(tmp_path)


@pytest.mark.parametrize(("wanted", "expected"), [("3", 3), ("", 2), ("all", 2), ("0", 2)])
def test_threads(wanted: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", wanted)
    monkeypatch.setattr("disconer.core.cores.usable_cores", lambda: 2)
    assert chosen_threads() == expected


def test_any_number_of_threads_finds_the_same(exported: tuple[Model, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        one_by_one.append(found(Recognizer.from_pretrained(exported[1])))
    assert one_by_one[0] == one_by_one[1]


def test_rounding_keeps_to_half_a_step() -> None:
    values = np.random.default_rng(0).normal(size=(30, 40)).astype(np.float32)
    values[3] = 0
    small, scale = rounded_to_8_bits(values, axis=1)
    assert small.dtype == np.int8
    assert (np.abs(small * scale - values) <= scale / 2 + 1e-7).all()
