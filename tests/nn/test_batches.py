from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from disconer import Document, Sentence, Token
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch, sent_at_once
from disconer.nn.encoders.transformer import SubwordTokenizer
from disconer.nn.encoders.transformer.pretrained import without_pooler
from disconer.nn.network import build_network
from disconer.nn.reader import Subwords
from disconer.nn.windows import Window, Windower
from disconer.store.checkpoint import Model
from nn.families import ENCODERS, TOKENIZERS, byte_level, tiny_encoder, unigram
from nn.toy import SPECIAL, find, letter_model, lively, toy_config, toy_model, toy_tokenizer, word_batch, words_of

PAD, _, CLS, SEP = range(len(SPECIAL))
POOLINGS = ["first", "mean", "max"]
TEXTS = [
    "pain and stiffness in my knees",
    "a",
    "aspirin caused pain, fever and 5 swollen hands",
    "no pain",
    "x " * 18,
]


def windows_of(texts: list[str], model: Model) -> list[Window]:
    windower = Windower(model.config, model.reader, model.max_subwords)
    documents = [windower.segment(Document(str(number), text)) for number, text in enumerate(texts)]
    return [window for document in documents for own in windower.windows(document) for window in own]


def test_what_a_batch_holds() -> None:
    model = toy_model()
    batch = word_batch(windows_of(["a bc", "d"], model), model.reader)
    a, b, c, d = (toy_tokenizer().convert_tokens_to_ids(subword) for subword in ("a", "b", "##c", "d"))
    assert batch.piece_ids.tolist() == [[CLS, a, b, c, SEP], [CLS, d, SEP, PAD, PAD]]
    assert batch.piece_mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    assert batch.first_piece.tolist() == [[1, 2], [6, 0]]
    assert batch.piece_places.tolist() == [1, 2, 3, 6]
    assert batch.word_places.tolist() == [0, 1, 1, 2]
    assert batch.word_mask.tolist() == [[True, True], [True, False]]
    assert batch.own_mask.tolist() == [[True, True], [True, False]]
    assert batch.parsed.tolist() == [False, False]
    assert batch.lengths == [2, 1]


def test_windows_of_a_passage_share_a_row() -> None:
    model = toy_model()
    a_bc, d, e = windows_of(["a bc", "d", "e"], model)
    batch = WordBatch.from_arrays(word_arrays([[a_bc, d], [e]], model.reader))
    a, b, c, dd, ee = (toy_tokenizer().convert_tokens_to_ids(subword) for subword in ("a", "b", "##c", "d", "e"))
    assert batch.piece_ids.tolist() == [[CLS, a, b, c, dd, SEP], [CLS, ee, SEP, PAD, PAD, PAD]]
    assert batch.piece_mask.tolist() == [[1] * 6, [1, 1, 1, 0, 0, 0]]
    assert batch.first_piece.tolist() == [[1, 2], [4, 0], [7, 0]]
    assert batch.piece_places.tolist() == [1, 2, 3, 4, 7]
    assert batch.word_places.tolist() == [0, 1, 1, 2, 4]
    assert batch.lengths == [2, 1, 1]


@settings(max_examples=25, deadline=None)
@given(
    cuts=st.lists(st.booleans(), min_size=len(TEXTS) - 1, max_size=len(TEXTS) - 1), pooling=st.sampled_from(POOLINGS)
)
def test_windows_in_a_passage_are_read_as_one_text(cuts: tuple[bool, ...], pooling: str) -> None:
    """The vectors of a passage's words are those of one window that has all of their subwords."""
    model = toy_model(encoder={"lstm": None, "pooling": pooling}, positions=128)
    passages: list[list[Window]] = [[]]
    for window, cut in zip(windows_of(TEXTS, model), [False, *cuts], strict=True):
        passages = [*passages, [window]] if cut else [*passages[:-1], [*passages[-1], window]]
    with torch.inference_mode():
        words = model.network.words(WordBatch.from_arrays(word_arrays(passages, model.reader)))
        found = iter(words)
        for passage in passages:
            joined = _joined(passage)
            (expected,) = model.network.words(word_batch([joined], model.reader))
            own = torch.cat([next(found)[: len(window)] for window in passage])
            torch.testing.assert_close(own, expected[: len(joined)], rtol=1e-4, atol=1e-5)


def _joined(passage: list[Window]) -> Window:
    """One window with the words and subwords of several."""
    origins = np.cumsum([0, *(len(window.subwords.ids) for window in passage)])
    tokens = tuple(Token(2 * n, 2 * n + 1) for n in range(sum(map(len, passage))))
    subwords = Subwords(
        np.concatenate([window.subwords.ids for window in passage]),
        np.concatenate([window.subwords.first + origin for window, origin in zip(passage, origins, strict=False)]),
        np.concatenate([window.subwords.end + origin for window, origin in zip(passage, origins, strict=False)]),
    )
    return Window(Sentence(0, 2 * len(tokens), tokens), 0, len(tokens), (0, len(tokens)), subwords)


def test_a_word_without_subwords_takes_what_opens_the_row() -> None:
    model = toy_model()
    batch = word_batch(windows_of(["\x01 a \x01 b"], model), model.reader)
    assert batch.first_piece.tolist() == [[0, 1, 0, 2]]
    assert batch.word_places.tolist() == [1, 3]


VOICED = "\uff9e"  # a mark of Japanese by itself: it counts as a letter, and is decomposed into an accent


def test_a_sentence_without_any_subword() -> None:
    tokenizer = SubwordTokenizer(unigram())  # which puts nothing around a sentence
    config = toy_config()
    network = build_network(config, ("ADR",), words_of(without_pooler(tiny_encoder("bert")), config)).eval()
    windows = windows_of([VOICED, f"a {VOICED}"], Model(network, tokenizer, config, ("ADR",)))
    assert len(windows[0].subwords.ids) == 0
    assert find(network, word_batch(windows[:1], tokenizer)) == [[]]
    assert len(find(network, word_batch(windows, tokenizer))) == 2


@pytest.mark.parametrize("text", [*TEXTS, "\x01 a \x01 b", "a b c d e f g h i j k l m n", "\x01", "\u200d"])
def test_a_window_by_itself_has_the_arrays_that_it_has_among_others(text: str) -> None:
    model = toy_model(positions=12)
    for window in windows_of([text], model):
        alone, twice = (word_arrays([[window]] * number, model.reader) for number in (1, 2))
        for field in fields(alone):
            one, both = getattr(alone, field.name), getattr(twice, field.name)
            assert one.dtype == both.dtype, field.name
            assert one.tolist() == both[: len(one)].tolist(), field.name


@pytest.mark.parametrize("several", [1, 8])
def test_sizes_are_multiples_and_nothing_else_changes(several: int) -> None:
    model = toy_model(encoder={"lstm": {"size": 8}})
    windows = windows_of(TEXTS, model)
    alone = [[window] for window in windows]
    arrays = word_arrays(alone, model.reader, multiple=several)
    assert arrays.word_mask.shape[1] % several == arrays.piece_ids.shape[1] % several == 0
    assert arrays.lengths.tolist() == [len(window) for window in windows]
    plain, padded = (
        model.network.words(WordBatch.from_arrays(made)) for made in (word_arrays(alone, model.reader), arrays)
    )
    for row, length in enumerate(arrays.lengths):
        torch.testing.assert_close(padded[row, :length], plain[row, :length])


def test_what_goes_to_a_device_at_once_is_what_was_there() -> None:
    model = toy_model()
    arrays = word_arrays([windows_of(TEXTS, model)[:2], windows_of(TEXTS, model)[2:]], model.reader)
    whole = [getattr(arrays, field.name) for field in fields(arrays)]
    for array, tensor in zip(whole, sent_at_once(whole, torch.device("cpu")), strict=True):
        assert tensor.dtype == (torch.bool if array.dtype == bool else torch.int64)
        assert (tensor.numpy() == array).all()


def test_the_words_that_a_window_owns() -> None:
    model = toy_model(positions=12)
    batch = word_batch(windows_of(["a b c d e f g h i j k l m n"], model), model.reader)
    assert batch.own_mask.sum().item() == 14
    assert batch.own_mask[0].tolist() == [True] * 9 + [False]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_pooling(pooling: str) -> None:
    model = toy_model(encoder={"pooling": pooling, "layers": "last", "lstm": None})
    windows = windows_of(["pain \x01 of", "no"], model)
    batch = word_batch(windows, model.reader)
    encoder = model.network.words.encoder
    with torch.inference_mode():
        words = encoder(batch)
        subwords = encoder.transformer(input_ids=batch.piece_ids, attention_mask=batch.piece_mask).last_hidden_state
    pool = {"first": lambda own: own[0], "mean": lambda own: own.mean(0), "max": lambda own: own.amax(0)}[pooling]
    wanted = [(0, 0, slice(1, 5)), (0, 1, slice(0, 1)), (0, 2, slice(5, 7)), (1, 0, slice(1, 3))]
    for row, word, own in wanted:
        torch.testing.assert_close(words[row, word], pool(subwords[row, own]))


FEATURES = {
    "plain": {"encoder": {"lstm": None}},
    "lstm": {"encoder": {"lstm": {"size": 8}}},
    "mean of layers": {"encoder": {"pooling": "mean", "layers": 2}},
    "many labels, all widths": {"head": {"labels": "many", "max_width": None}},
    "gcn": {"syntax": {"parser": "data", "gcn": {"heads": 2, "size": 4, "first_layers": 2, "further_layers": 2}}},
}


def scores(model: Model, batch: WordBatch) -> list[torch.Tensor]:
    """Of every window, the scores of the spans that exist."""
    with torch.inference_mode():
        head = model.network.head
        values, exist = head.span_scores(model.network.words(batch), batch)
    return [values[row][exist[row]] for row in range(len(batch.lengths))]


@pytest.mark.parametrize("feature", FEATURES)
@settings(max_examples=15)
@given(chosen=st.lists(st.sampled_from(range(len(TEXTS))), min_size=1, max_size=4))
def test_neither_padding_nor_company_changes_a_result(feature: str, chosen: list[int]) -> None:
    model = lively(toy_model(**FEATURES[feature]))
    windows = [windows_of(TEXTS, model)[number] for number in chosen]
    together = word_batch(windows, model.reader)
    alone = [word_batch([window], model.reader) for window in windows]
    for in_company, batch in zip(scores(model, together), alone, strict=True):
        torch.testing.assert_close(in_company, scores(model, batch)[0], rtol=1e-5, atol=1e-5)
    for in_company, batch in zip(find(model.network, together), alone, strict=True):
        (by_itself,) = find(model.network, batch)
        assert [(found.label, found.ranges) for found in in_company] == [
            (found.label, found.ranges) for found in by_itself
        ]
        assert [found.score for found in in_company] == pytest.approx([found.score for found in by_itself], abs=1e-5)


@settings(max_examples=50)
@given(letters=st.lists(st.sampled_from("pkabc"), min_size=1, max_size=60))
def test_a_window_finds_all_that_begins_among_its_own_words_and_ends_in_it(letters: list[str]) -> None:
    model = letter_model(positions=14)
    windows = windows_of([" ".join(letters)], model)
    found = [
        (entity.label, tuple(first + window.start for first, _ in entity.ranges))
        for window, entities in zip(windows, find(model.network, word_batch(windows, model.reader)), strict=True)
        for entity in entities
        if window.owns(entity.ranges[0][0])
    ]
    wanted = []
    for window in windows:
        words = range(window.start, window.end)
        pairs = [(a, b) for a in words for b in words if a + 1 < b and (letters[a], letters[b]) == ("p", "k")]
        paired = {word for pair in pairs for word in pair}
        alone = [(word,) for word in words if letters[word] in "pk" and word not in paired]
        wanted += [("ADR", words) for words in (*pairs, *alone) if window.own[0] <= words[0] < window.own[1]]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("family", ENCODERS)
def test_encoders_of_every_family(family: str) -> None:
    config = toy_config(encoder={"pooling": "mean", "lstm": None})
    network = build_network(config, ("ADR", "Drug"), words_of(without_pooler(tiny_encoder(family)), config)).eval()
    tokenizer = SubwordTokenizer(byte_level() if "pad_token_id" in ENCODERS[family] else toy_tokenizer())
    model = lively(Model(network, tokenizer, config, ("ADR", "Drug")))
    assert model.max_subwords == 40
    windows = windows_of([*TEXTS, "knees " * 60], model)
    assert 30 < max(len(window.subwords.ids) for window in windows) <= 38
    together = scores(model, word_batch(windows, tokenizer))
    for in_company, window in zip(together, windows, strict=True):
        torch.testing.assert_close(in_company, scores(model, word_batch([window], tokenizer))[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", TOKENIZERS)
def test_each_word_reads_its_own_subwords(family: str) -> None:
    """If a vector says which subword it stands for, a word's mean says which subwords it has."""
    tokenizer = SubwordTokenizer(TOKENIZERS[family]())
    model = toy_model(encoder={"pooling": "mean", "lstm": None})
    model = Model(model.network, tokenizer, model.config, model.labels)
    windows = windows_of(["My knees: naïve café 🚀.", "no pain"], model)
    batch = word_batch(windows, tokenizer)
    vectors = batch.piece_ids.float().unsqueeze(-1)  # (B, P, 1)
    words = model.network.words.encoder._pool(vectors, batch).squeeze(-1)
    for row, window in enumerate(windows):
        for word, (first, end) in enumerate(zip(window.subwords.first, window.subwords.end, strict=True)):
            assert words[row, word].item() == pytest.approx(window.subwords.ids[first:end].mean())
