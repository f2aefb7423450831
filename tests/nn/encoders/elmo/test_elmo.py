from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

h5py = pytest.importorskip("h5py")

from disconer import DisconerError, Document  # noqa: E402
from disconer.config import config_from_dict  # noqa: E402
from disconer.nn.encoders import ENCODER_KINDS  # noqa: E402
from disconer.nn.encoders.elmo import MAX_LETTERS, ElmoReader, letters_of  # noqa: E402
from disconer.nn.encoders.elmo.encoder import BiLm  # noqa: E402
from disconer.nn.network import build_network  # noqa: E402
from disconer.nn.windows import windows  # noqa: E402
from disconer.predict.recognizer import Recognizer  # noqa: E402
from disconer.store.checkpoint import (  # noqa: E402
    Model,
    load_model,
    save_model,
)
from disconer.text import segment  # noqa: E402
from disconer.training import train  # noqa: E402
from nn.elmos import OPTIONS, SIZE, save_elmo, slow_layers  # noqa: E402
from nn.toy import lively, toy_config, word_batch  # noqa: E402
from training.synthetic import complaints, prepare  # noqa: E402

TEXT = "Pain and stiffness in my naïve knees."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(save_elmo(tmp_path_factory.mktemp("elmo")))


def elmo_model(folder: Path, **knobs: object) -> Model:
    torch.manual_seed(0)
    config = toy_config(encoder={"kind": "elmo", "name": str(folder)} | knobs)
    encoding = ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, tuple)
    return Model(build_network(config, ("ADR",), encoding.encoder).eval(), encoding.reader, config, ("ADR",))


def bilm_of(folder: Path) -> BiLm:
    return elmo_model(folder).network.words.encoder.bilm


def padded(sentences: list[list[str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The letters of sentences between their marks, and where there are any."""
    rows = [np.stack([*ElmoReader.prefix, *map(letters_of, words), *ElmoReader.suffix]) for words in sentences]
    letters = [torch.from_numpy(row) for row in rows]
    mask = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    return nn.utils.rnn.pad_sequence(letters, True), nn.utils.rnn.pad_sequence(mask, True)


# The numbers


@torch.no_grad()
@pytest.mark.parametrize("which", ["tiny", "reference"])
def test_all_three_layers_are_those_of_a_computation_word_by_word(
    which: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    place = folder if which == "tiny" else request.getfixturevalue("data") / "elmo-reference"
    sentences = [["Pain", "in", "naïve", "knees", "."], ["No"], ["a", "x" * 60, "b"]]
    layers, _ = bilm_of(place)(*padded(sentences))
    for row, words in enumerate(sentences):
        for layer, expected in zip(layers, slow_layers(place, words), strict=True):
            np.testing.assert_allclose(layer[row, 1 : len(words) + 1], expected, atol=1e-5)


@torch.no_grad()
def test_words_as_the_original_computed_them(data: Path) -> None:
    """The lowest layer: the vectors of a vocabulary, each word by itself."""
    reference = data / "elmo-reference"
    words = (reference / "vocab_test.txt").read_text("utf-8").split("\n")
    marks = {"<S>": ElmoReader.prefix[0], "</S>": ElmoReader.suffix[0]}
    letters = np.stack([marks[word] if word in marks else letters_of(word) for word in words])
    with h5py.File(reference / "elmo_token_embeddings.hdf5") as file:
        expected = file["embedding"][...]
    found = bilm_of(reference).words(torch.from_numpy(letters)[None])[0]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@torch.no_grad()
def test_the_highest_layer_as_the_original_computed_it(data: Path) -> None:
    """The original read ten batches of three sentences and went on from one batch to the next with the state of the
    last: a file is a place in the batch, a data set in it a batch, and of each word there are two vectors, of the
    forward and of the backward direction. We pass the states on here, and nowhere else.
    """
    reference = data / "elmo-reference"
    sentences = json.loads((reference / "sentences.json").read_text("utf-8"))
    files = [h5py.File(reference / f"lm_embeddings_{place}.hdf5") for place in range(3)]
    bilm, states = bilm_of(reference), None
    for number in range(10):
        batch = [sentences[place][number].split() for place in range(3)]
        layers, states = bilm(*padded(batch), states)
        for place, words in enumerate(batch):
            forward, backward = files[place][str(number)][...]
            found = layers[-1][place, 1 : len(words) + 1]
            np.testing.assert_allclose(found, np.concatenate([forward, backward], axis=1), atol=1e-4)


@torch.no_grad()
def test_nothing_is_remembered_from_one_sentence_to_the_next(folder: Path) -> None:
    model = elmo_model(folder)
    recognizer = Recognizer(lively(model, against=0.0))
    first = recognizer(TEXT)
    recognizer("Something else about hips and wrists.")
    assert recognizer(TEXT) == first
    assert len(first.entities) > 0


@torch.no_grad()
def test_the_vectors_of_words_are_mixed_between_the_marks(folder: Path) -> None:
    model = elmo_model(folder)
    texts = [TEXT, "No.", "Swollen hands and feet after a long day, and much more than that."]
    found = []
    for text in texts:
        (sentence,) = segment(Document("d", text)).sentences
        (subwords,) = model.reader(text, [sentence])
        found += windows(sentence, subwords, max_subwords=1000)
    vectors = model.network.words.encoder(word_batch(found, model.reader))
    assert vectors.shape == (3, max(map(len, found)), 2 * SIZE)
    for row, (text, window) in enumerate(zip(texts, found, strict=True)):
        words = [text[start:end] for start, end in window.sentence.tokens]
        expected = np.mean(slow_layers(folder, words), axis=0)  # the mix starts as a plain mean
        np.testing.assert_allclose(vectors[row, : len(words)], expected, atol=1e-5)


def test_letters() -> None:
    assert letters_of("é").tolist()[:5] == [259, 0xC3 + 1, 0xA9 + 1, 260, 261]
    assert letters_of("x" * 100).tolist() == [259, *[ord("x") + 1] * (MAX_LETTERS - 2), 260]
    assert letters_of("\ud800").tolist()[:3] == [259, 260, 261]


# Models on it


@pytest.mark.parametrize("frozen", [True, False])
def test_it_learns(frozen: bool, folder: Path, tmp_path: Path) -> None:
    documents = complaints(6)
    values = prepare(tmp_path, documents, documents, epochs=1, encoder_rate=1e-2).to_dict()
    values["encoder"] |= {"kind": "elmo", "name": str(folder), "pooling": "first", "frozen": frozen}
    train(config_from_dict(values), tmp_path / "run")
    fresh = elmo_model(folder).network.words.encoder
    trained = load_model(tmp_path / "run" / "last").network.words.encoder
    assert all(map(torch.equal, fresh.bilm.parameters(), trained.bilm.parameters())) == frozen
    assert not torch.equal(fresh.mix.weights, trained.mix.weights)


def test_a_saved_model_needs_neither_the_files_nor_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = lively(elmo_model(Path(save_elmo(tmp_path / "elmo"))), against=0.0)
    save_model(model, tmp_path / "model")
    for path in (tmp_path / "elmo").iterdir():
        path.unlink()
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert Recognizer.from_pretrained(tmp_path / "model")(TEXT) == Recognizer(model)(TEXT)


@pytest.mark.parametrize("encoder", [{}, {"letters": 262}, {"filters": 3}])
def test_a_description_that_is_damaged(encoder: object, folder: Path, tmp_path: Path) -> None:
    save_model(elmo_model(folder), tmp_path)
    description = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(description | {"encoder": encoder}))
    with pytest.raises(DisconerError, match=r"config\.json: The ELMo of this model cannot be built"):
        load_model(tmp_path)


# What people meet


def test_without_h5py(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DisconerError, match=r"needs h5py.*pip install 'disconer\[elmo\]'"):
        elmo_model(folder)


def test_nowhere(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="There is no ELMo"):
        elmo_model(tmp_path)


def shorten(folder: Path) -> None:
    path = folder / "tiny_weights.hdf5"
    path.write_bytes(path.read_bytes()[:3000])


def remove_a_part(folder: Path) -> None:
    with h5py.File(folder / "tiny_weights.hdf5", "a") as file:
        del file["CNN_proj/b_proj"]


def make_nan(folder: Path) -> None:
    with h5py.File(folder / "tiny_weights.hdf5", "a") as file:
        file["CNN_proj/b_proj"][0] = np.nan


def change_options(folder: Path) -> None:
    lstm = OPTIONS["lstm"] | {"dim": 8}
    (folder / "tiny_options.json").write_text(json.dumps(OPTIONS | {"lstm": lstm}))


def other_options(folder: Path) -> None:
    (folder / "tiny_options.json").write_text("{}")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shorten, r"weights\.hdf5: These are not weights of ELMo, or they are damaged"),
        (remove_a_part, r"Got no CNN_proj/b_proj in it"),
        (make_nan, r"NaN or infinite"),
        (change_options, r"do not belong to the tiny_options\.json next to them.*size mismatch"),
        (other_options, r"options\.json: These are not the options of an ELMo.*char_cnn"),
    ],
)
def test_damaged_files(damage: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    damage(Path(save_elmo(tmp_path)))
    with pytest.raises(DisconerError, match=message) as caught:
        elmo_model(tmp_path)
    assert "\n" not in str(caught.value)
