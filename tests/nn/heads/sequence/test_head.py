"""The sequence head: targets of windows, the loss against labels one by one, greedy and beam search."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from disconer import Document, Entity
from disconer.nn.heads.sequence import SEQUENCE
from disconer.nn.heads.sequence.head import LabelTargets, SequenceHead, TorchScorer
from disconer.nn.heads.sequence.kind import SequenceSettings
from disconer.nn.heads.sequence.labels import Alphabet, State, read, valid_labels
from disconer.nn.heads.sequence.reading import Decoder
from nn.heads.sentences import cut, words

TEXT = "a b c d e f g h i j"  # ten words of one character, two apart
SMALL = {"label_size": 3, "size": 5, "dropout": 0.0, "max_labels": 3}
WORD_SIZE, LABELS = 4, ("ADR", "Drug")
ALPHABET = Alphabet(len(LABELS), 3)


def lively_head(**settings: Any) -> SequenceHead:
    torch.manual_seed(5)
    head = SEQUENCE.build(SequenceSettings(**SMALL | settings), LABELS, word_size=WORD_SIZE).eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.8)
    return head


def sentences_of(*lengths: int) -> torch.Tensor:
    torch.manual_seed(6)
    return torch.randn(len(lengths), max(lengths), WORD_SIZE)


def targets_of(labels: Sequence[int], n_words: int) -> LabelTargets:
    state, places = State(), []
    for number in labels:
        places.append((state.word, state.choice(n_words, ALPHABET)))
        state = state.after(number, len(LABELS))
    word, choice = np.array(places).T
    return LabelTargets(np.array(labels), word, choice, np.ones(len(labels), dtype=bool))


def random_labels(n_words: int, seed: int) -> list[int]:
    rng, state, labels = np.random.default_rng(seed), State(), []
    while state.word < n_words:
        may = valid_labels(len(LABELS))[state.choice(n_words, ALPHABET)].nonzero()[0]
        labels.append(int(rng.choice(may)))
        state = state.after(labels[-1], len(LABELS))
    return labels


def scored_one_by_one(head: SequenceHead, sentence: torch.Tensor, labels: Sequence[int]) -> list[float]:
    """The log probabilities of the labels of a sentence by itself, as prediction computes them."""
    scorer, state, before, found = TorchScorer(head.writer, sentence[None]), State(), 0, []
    for number in labels:
        scores = scorer(*(np.array([one]) for one in (0, state.word, before, 0)))[0]
        may = valid_labels(len(LABELS))[state.choice(len(sentence), ALPHABET)]
        found.append(float(scores[number] - np.logaddexp.reduce(scores[may])))
        state, before = state.after(number, len(LABELS)), number
    return found


@torch.no_grad()
def test_a_batch_gives_what_labels_one_by_one_give() -> None:
    head, lengths = lively_head(), [14, 1, 20, 4]
    sentences = sentences_of(*lengths)
    labels = [random_labels(n, seed) for seed, n in enumerate(lengths)]
    made = head.batch_targets([targets_of(one, n) for one, n in zip(labels, lengths, strict=True)])
    expected = [
        scored_one_by_one(head, sentences[row, :n_words], one)
        for row, (one, n_words) in enumerate(zip(labels, lengths, strict=True))
    ]
    scores = head.log_probabilities(sentences, made)
    for row, own in enumerate(expected):
        assert scores[row, : len(own)].tolist() == pytest.approx(own, abs=1e-5)
    loss = head.loss(sentences, None, made)  # type: ignore[arg-type]
    assert float(loss) == pytest.approx(-sum(map(sum, expected)), rel=1e-5)


def all_sequences(n_words: int) -> list[list[int]]:
    """Every way to label a sentence."""
    unfinished: list[tuple[State, list[int]]] = [(State(), [])]
    found = []
    while unfinished:
        state, labels = unfinished.pop()
        if state.word == n_words:
            found.append(labels)
            continue
        for number in valid_labels(len(LABELS))[state.choice(n_words, ALPHABET)].nonzero()[0].tolist():
            unfinished.append((state.after(number, len(LABELS)), [*labels, number]))
    return found


@torch.no_grad()
def test_probabilities_of_all_sequences_add_up_to_one_and_a_wide_beam_finds_the_best() -> None:
    head, sentences = lively_head(), sentences_of(2)
    ways = all_sequences(2)
    totals = [sum(scored_one_by_one(head, sentences[0], way)) for way in ways]
    assert np.exp(totals).sum() == pytest.approx(1, abs=1e-4)
    best = {(LABELS[one.label], (one.words,)) for one in read(ways[int(np.argmax(totals))], len(LABELS))}
    [found] = Decoder(LABELS, ALPHABET, len(ways))(TorchScorer(head.writer, sentences), [2])
    assert {one[:2] for one in found} == best != set()


@torch.no_grad()
@pytest.mark.parametrize("beam", [1, 3])
def test_a_window_finds_the_same_whatever_shares_its_batch(beam: int) -> None:
    head, lengths = lively_head(beam=beam), [7, 1, 9, 4]
    sentences = sentences_of(*lengths)
    together = head.decoder(TorchScorer(head.writer, sentences), lengths)
    assert sum(map(len, together)) > 4
    for row, n_words in enumerate(lengths):
        [own] = head.decoder(TorchScorer(head.writer, sentences[row : row + 1, :n_words]), [n_words])
        assert [one[:2] for one in own] == [one[:2] for one in together[row]]
        assert [one.score for one in own] == pytest.approx([one.score for one in together[row]], abs=1e-5)


def test_the_score_is_the_product_of_the_labels_of_an_entity() -> None:
    """B-ADR | L-ADR U-Drug |: the labels of other entities, and the ends of words, count for nothing."""
    wanted = [1, 0, 5, 8, 0]

    def scorer(row: Any, word: Any, before: Any, origin: Any) -> Any:
        scores = np.zeros((1, ALPHABET.size), dtype=np.float32)
        scores[0, wanted[len(asked)]] = 2.0
        asked.append(int(word[0]))
        return scores

    asked: list[int] = []
    [found] = Decoder(LABELS, ALPHABET, 1)(scorer, [2])
    assert asked == [0, 0, 1, 1, 1]
    first, last, single = (np.exp(2) / (np.exp(2) + others) for others in (4, 0, 2))
    assert {(one.label, one.ranges): one.score for one in found} == {
        ("ADR", ((0, 2),)): pytest.approx(first * last),
        ("Drug", ((1, 2),)): pytest.approx(single),
    }


def test_what_a_window_cuts_teaches_nothing_there() -> None:
    """Words 4 to 7 are an entity, and windows end after word 5 and start with it."""
    head = lively_head()
    made, entities = cut(Document("d", TEXT, (Entity("ADR", words((0, 2))), Entity("ADR", words((4, 8))))), 6)
    first, second = (head.window_targets(window, entities) for window in made)
    assert first.labels.tolist() == [1, 0, 5, 0, 0, 0, 0, 0]
    assert first.word.tolist() == [0, 0, 1, 1, 2, 3, 4, 5]
    assert first.taught.tolist() == [True] * 6 + [False] * 2
    assert second.taught.tolist() == [False] * 3 + [True] * 2


def test_discontinuous_entities_and_those_with_other_labels_are_left_out() -> None:
    entities = (Entity("Other", words((0, 2))), Entity("ADR", words((3, 4), (6, 7))))
    made, aligned = cut(Document("d", TEXT, entities), 20)
    assert set(lively_head().window_targets(made[0], aligned).labels.tolist()) == {0}


def test_memory_grows_with_words_and_beam() -> None:
    costs = [SEQUENCE.cells(n, SequenceSettings(beam=beam), ["A"]) for beam, n in product((1, 40), (10, 20))]
    assert costs == sorted(set(costs))
