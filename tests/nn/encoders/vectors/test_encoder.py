from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from disconer import DisconerError, Document
from disconer.config import config_from_dict
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.encoders.vectors import (
    BEGIN,
    COLUMNS,
    END,
    MAX_BYTES,
    N_SPECIAL,
    NO_BYTE,
    UNKNOWN,
    WordReader,
    spelling,
)
from disconer.nn.encoders.vectors.encoder import CharacterCnn
from disconer.nn.windows import Window, windows
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, load_model, save_model
from disconer.text import segment
from disconer.training import train
from nn.tables import SIZE, WORDS, save_vectors, vectors_config, vectors_model
from nn.toy import lively, word_batch
from training.synthetic import PLACES, SYMPTOMS, complaints, prepare

TEXT = "No pain and stiffness in my knees after 47 mg aspirin."


def windows_of(model: Model, *texts: str) -> list[Window]:
    found = []
    for text in texts:
        (sentence,) = segment(Document("d", text)).sentences
        (subwords,) = model.reader(text, [sentence])
        found += windows(sentence, subwords, max_subwords=1000)
    return found


def vectors_of(model: Model, *texts: str) -> torch.Tensor:
    with torch.no_grad():
        return model.network.words.encoder(word_batch(windows_of(model, *texts), model.reader))


# Reading


def test_a_subword_is_a_word() -> None:
    reader = WordReader(WORDS, spelled=False)
    text = "Pain, Knees 12 xyz no"
    (sentence,) = segment(Document("d", text)).sentences
    (subwords,) = reader(text, [sentence])
    found = [WORDS[row - N_SPECIAL] if row != UNKNOWN else None for row in subwords.ids[:, 0]]
    assert found == ["pain", None, "knees", "00", None, None]
    assert subwords.first.tolist() == list(range(6))
    assert subwords.end.tolist() == list(range(1, 7))


def test_how_a_word_is_spelt() -> None:
    assert spelling("ab")[:5].tolist() == [BEGIN, ord("a") + 1, ord("b") + 1, END, NO_BYTE]
    assert len(spelling("é" * 100)) == COLUMNS
    assert spelling("x" * 100).tolist() == [BEGIN, *[ord("x") + 1] * MAX_BYTES, END]


@given(word=st.text(max_size=20))
def test_every_word_can_be_spelt(word: str) -> None:
    numbers = spelling(word).tolist()
    assert numbers[0] == BEGIN
    assert numbers.count(END) == 1
    assert set(numbers[numbers.index(END) + 1 :]) <= {NO_BYTE}


# Vectors


def test_a_known_word_has_its_vector_and_others_the_unknown_one(tmp_path: Path) -> None:
    model = vectors_model(tmp_path, characters=None)
    given_vectors = np.loadtxt(tmp_path / "vectors.txt", usecols=range(1, SIZE + 1), dtype=np.float32)
    found = vectors_of(model, "pain xyz Aspirin 99")[0].numpy()
    np.testing.assert_allclose(found[0], given_vectors[WORDS.index("pain")])
    np.testing.assert_allclose(found[1], given_vectors.mean(0), rtol=1e-5)
    np.testing.assert_allclose(found[2], given_vectors[WORDS.index("aspirin")])
    np.testing.assert_allclose(found[3], given_vectors[WORDS.index("00")])


def test_spelling_tells_unknown_words_apart(tmp_path: Path) -> None:
    without = vectors_of(vectors_model(tmp_path, characters=None), "xyz zyx")[0]
    assert torch.equal(without[0], without[1])
    model = vectors_model(tmp_path, characters={"filters": 7})
    spelt = vectors_of(model, "xyz zyx xyz")[0]
    assert spelt.shape[-1] == model.network.words.encoder.size == SIZE + 7
    assert not torch.equal(spelt[0], spelt[1])
    assert torch.equal(spelt[0], spelt[2])


def test_a_word_has_the_same_vector_in_every_batch(tmp_path: Path) -> None:
    model = vectors_model(tmp_path)
    alone = vectors_of(model, "xyz pain")[0]
    together = vectors_of(model, "xyz pain", "a much longer sentence about stiffness in knees")[0]
    torch.testing.assert_close(together[:2], alone)


def test_letters_behind_the_end_of_a_word_do_not_matter() -> None:
    torch.manual_seed(0)
    cnn = CharacterCnn(size=5, filters=8, width=3)
    with torch.no_grad():
        cnn.convolution.bias.fill_(2.0)  # so that padding would answer most loudly
        cnn.convolution.weight.neg_().abs_().neg_()
        cnn.symbols.weight[1:].abs_()
        whole, short = spelling("pain"), spelling("pain")[:6]
        torch.testing.assert_close(cnn(torch.from_numpy(whole)), cnn(torch.from_numpy(short)))
        assert not cnn(torch.zeros(2, COLUMNS, dtype=torch.long)).any()


def test_some_words_are_taken_for_unknown_in_training_only(tmp_path: Path) -> None:
    model = vectors_model(tmp_path, characters=None, unknown=0.5)
    encoder = model.network.words.encoder
    batch = word_batch(windows_of(model, "pain " * 400), model.reader)
    known = encoder(batch)[0, 0]
    encoder.train()
    torch.manual_seed(1)
    share = (encoder(batch)[0] == known).all(-1).float().mean()
    assert 0.4 < share < 0.6
    encoder.eval()
    assert (encoder(batch)[0] == known).all()


@pytest.mark.parametrize("frozen", [True, False])
def test_frozen_or_learnt(frozen: bool, tmp_path: Path) -> None:
    model = vectors_model(tmp_path, frozen=frozen)
    encoder = model.network.words.encoder
    encoder(word_batch(windows_of(model, "pain xyz"), model.reader)).sum().backward()
    assert (encoder.table.weight.grad is None) == frozen
    assert encoder.unknown.grad is not None
    assert [id(p) for p in model.network.encoder_parameters()] == [id(encoder.table.weight)]


# Which rows a model carries


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ("data", ["pain", "No", "00"]),
        (2, ["the", "pain", "No", "00"]),
        ("all", WORDS),
    ],
)
def test_rows_that_are_kept(rows: object, kept: list[str], tmp_path: Path) -> None:
    config = vectors_config(tmp_path, rows=rows)
    encoding = ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, lambda: ["Pain", "No", "17", "xyz"])
    assert encoding.reader.words == kept
    assert encoding.encoder.table.num_embeddings == len(kept) + N_SPECIAL
    assert encoding.notes == (f"word vectors: 11 of size 6, {len(kept)} of them kept; 3 of 4 distinct words have one",)


def test_what_a_file_lost_is_noted(tmp_path: Path) -> None:
    config = vectors_config(tmp_path)
    save_vectors(tmp_path, [*WORDS, "pain"])
    assert ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, lambda: WORDS).notes[1:] == (
        "left out of the word vectors: 1 duplicate words",
    )


def test_vectors_of_none_of_the_words(tmp_path: Path) -> None:
    config = vectors_config(tmp_path)
    with pytest.raises(DisconerError, match="None of the 2 distinct words of the data has a vector"):
        ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, lambda: ["Schmerz", "Knie"])


# Models on them


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_model(lively(vectors_model(tmp_path / "vectors"), against=0.0), tmp_path / "model")
    return tmp_path / "model"


def test_a_saved_model_needs_no_file_of_vectors(saved: Path, tmp_path: Path) -> None:
    before = Recognizer(lively(vectors_model(tmp_path / "vectors"), against=0.0))(TEXT)
    (tmp_path / "vectors" / "vectors.txt").unlink()
    assert Recognizer.from_pretrained(saved)(TEXT) == before
    assert len(before.entities) > 3
    assert {path.name for path in saved.iterdir()} == {"README.md", "config.json", "model.safetensors", "words.json"}


@pytest.mark.parametrize("noise", [None, "", "{}", "[1]", '["pain"'])
def test_words_that_are_missing_or_damaged(noise: str | None, saved: Path) -> None:
    (saved / "words.json").unlink()
    if noise is not None:
        (saved / "words.json").write_text(noise)
    with pytest.raises(DisconerError, match=r"words\.json: The words of this model are missing or damaged"):
        load_model(saved)


def test_words_of_another_model(saved: Path) -> None:
    (saved / "words.json").write_text('["pain"]')
    with pytest.raises(DisconerError, match="weights of this model are damaged or belong to another model"):
        load_model(saved)


def test_a_description_that_is_damaged(saved: Path) -> None:
    description = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps(description | {"encoder": {"size": "x"}}))
    with pytest.raises(DisconerError, match=r"config\.json: The word vectors of this model are not described"):
        load_model(saved)


@pytest.mark.slow
def test_it_learns_and_predicts_without_transformers(tmp_path: Path) -> None:
    """In a process of its own, from configuration to prediction."""
    documents = complaints(12)
    config = prepare(tmp_path, documents, documents, epochs=1, head_rate=1e-2).to_dict()
    words = [*SYMPTOMS, *PLACES, "and", "in", "my"]
    config["encoder"] |= {"kind": "vectors", "name": save_vectors(tmp_path, words), "pooling": "first"}
    code = """if True:
        import json, sys
        from pathlib import Path
        from disconer.config import config_from_dict
        from disconer.predict.recognizer import Recognizer
        from disconer.training import train
        train(config_from_dict(json.loads(sys.argv[1])), Path(sys.argv[2]))
        Recognizer.from_pretrained(sys.argv[2])("pain in my knees")
        print(sorted({"transformers", "tokenizers", "spacy"} & sys.modules.keys()))
    """
    arguments = [sys.executable, "-c", code, json.dumps(config), str(tmp_path / "run")]
    ran = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
    assert "note: word vectors: 19 of size 6, 18 of them kept" in ran.stderr


@pytest.mark.slow
def test_it_learns(tmp_path: Path) -> None:
    documents = complaints(40)
    values = prepare(tmp_path, documents, documents, epochs=12, batch_tokens=64, head_rate=1e-2).to_dict()
    values["encoder"] |= {"kind": "vectors", "name": save_vectors(tmp_path, [*SYMPTOMS, *PLACES]), "pooling": "first"}
    result = train(config_from_dict(values), tmp_path / "run")
    assert result.dev.overall.f1 > 0.9


def test_a_sentence_takes_less_than_five_milliseconds(tmp_path: Path) -> None:
    recognizer = Recognizer(vectors_model(tmp_path), device="cpu")

    def seconds_a_sentence(times: int = 20) -> float:
        started = time.process_time()
        for _ in range(times):
            recognizer(TEXT)
        return (time.process_time() - started) / times

    assert min(seconds_a_sentence() for _ in range(6)) < 0.005
