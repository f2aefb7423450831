"""Every family of transformers, from its folder to predictions."""

from __future__ import annotations

from pathlib import Path
from unicodedata import combining, normalize

import pytest
import torch

from disconer import Document
from disconer.core.types import Entity
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.network import build_network
from disconer.nn.windows import Window, Windower
from disconer.predict.recognizer import Recognizer
from disconer.store.checkpoint import Model, load_model, save_model
from disconer.text.alignment import align
from nn.published import FAMILIES, POSITIONS, publish
from nn.toy import lively, toy_config, word_batch

# Upper case, accents (also as marks of their own), digits with units, punctuation within words, an emoji, odd spaces.
TEXT = "Pain (5mg/kg) of naïve KNEES\u00a0and nai\u0308ve  knees: 3.5%; 🚀 x-ray.\tNo pain\u2009in knee's"
LONG = "pain of knees and more " * 20


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return publish(request.param, tmp_path_factory.mktemp("encoder"))


def model_on(folder: str, **knobs: object) -> Model:
    torch.manual_seed(0)
    config = toy_config(encoder={"name": folder, "pooling": "mean"} | knobs, training={"encoder_rate": 1e-2})
    encoding = ENCODER_KINDS.get(config.encoder.kind).load(config.encoder, tuple)
    network = build_network(config, ("ADR", "Drug"), encoding.encoder).eval()
    return Model(network, encoding.reader, config, ("ADR", "Drug"))


def windows_of(model: Model, document: Document) -> list[Window]:
    windower = Windower(model.config, model.reader, model.max_subwords)
    return [window for own in windower.windows(windower.segment(document)) for window in own]


def test_the_subwords_of_a_word_spell_it(folder: str) -> None:
    reader = model_on(folder).reader
    tokenizer = reader.tokenizer
    document = Document("d", TEXT)
    sentences = Windower(toy_config(), reader, None).segment(document).sentences
    unknown = tokenizer.unk_token_id
    for sentence, subwords in zip(sentences, reader(TEXT, sentences), strict=True):
        for (start, end), first, last in zip(sentence.tokens, subwords.first, subwords.end, strict=True):
            ids = subwords.ids[first:last].tolist()
            if unknown in ids:
                continue
            word = TEXT[start:end]
            spelt = tokenizer.backend_tokenizer.decoder.decode(tokenizer.convert_ids_to_tokens(ids))
            assert ids or not plain(word), f"{word!r} has no subwords"
            assert plain(word) in plain(spelt) or plain(spelt) in plain(word), (word, spelt)


def plain(text: str) -> str:
    """What is left when tokenizers have done to a text what they may: no case, no marks, no spaces."""
    return "".join(c for c in normalize("NFKD", text).lower() if not combining(c) and not c.isspace() and c != "#")


def test_windows_fill_the_positions_and_no_more(folder: str) -> None:
    model = model_on(folder)
    assert model.max_subwords == POSITIONS
    windows = windows_of(model, Document("d", LONG))
    sizes = [len(window.subwords.ids) + len(model.reader.prefix) + len(model.reader.suffix) for window in windows]
    assert POSITIONS - 6 < max(sizes) <= POSITIONS
    with torch.no_grad():
        vectors = model.network.words.encoder(word_batch(windows, model.reader))
    assert vectors.shape == (len(windows), max(map(len, windows)), 16)
    assert vectors.isfinite().all()


@pytest.mark.parametrize("lstm", [None, {"size": 8}])
def test_a_step_of_training(lstm: object, folder: str) -> None:
    model = model_on(folder, lstm=lstm)
    entities = (Entity("ADR", ((0, 4),)), Entity("Drug", ((15, 20), (21, 26))))
    (sentence, *_), _ = align(Windower(model.config, model.reader, None).segment(Document("d", TEXT, entities)))
    window, *_ = windows_of(model, Document("d", TEXT, entities))
    head = model.network.head
    batch = word_batch([window], model.reader)
    targets = head.batch_targets([head.window_targets(window, sentence)])
    optimizer = torch.optim.AdamW(model.network.parameters(), lr=1e-3)
    losses = []
    for _ in range(6):
        loss = model.network(batch, targets)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < 0.9 * losses[0]
    assert any(p.grad is not None and p.grad.any() for p in model.network.encoder_parameters())


def test_saved_and_loaded_it_finds_the_same(folder: str, tmp_path: Path) -> None:
    model = lively(model_on(folder), against=0.0)
    save_model(model, tmp_path)
    loaded = load_model(tmp_path)
    for text in (TEXT, LONG):
        found = Recognizer(model)(text)
        assert Recognizer(loaded)(text) == found
        assert len(found.entities) > 3
        assert all(found.text[a:b].strip() for entity in found.entities for a, b in entity.fragments)
