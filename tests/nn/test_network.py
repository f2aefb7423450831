"""The fast network against the paper's equations, written out literally in `reference`."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from torch import Tensor

from disconer import Document, Entity, Sentence
from disconer.nn.devices import WordBatch
from disconer.nn.heads.span.head import SpanHead
from disconer.nn.heads.span.reading import NONE, SpanPlaces
from disconer.nn.heads.span.scorers import margins
from disconer.nn.heads.span.targets import Relation
from disconer.nn.layers.gcn import Aggcn
from disconer.nn.windows import Windower
from disconer.store.checkpoint import Model
from disconer.text.alignment import TokenEntity, align
from nn import reference
from nn.toy import toy_model, word_batch

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
LSTM = {"size": 8}
GCN = {"blocks": 2, "heads": 2, "size": 6, "first_layers": 2, "further_layers": 2, "dropout": 0.0}


def sentences() -> list[Document]:
    """Two sentences of different lengths, with a tree each, a discontinuous and an overlapping entity."""
    first = Document(
        "a", "pain and stiffness in my knees", (Entity("ADR", ((0, 4), (19, 30))), Entity("ADR", ((9, 30),)))
    )
    second = Document("b", "aspirin caused pain", (Entity("Drug", ((0, 7),)), Entity("ADR", ((15, 19),))))
    trees = {"a": (-1, 2, 0, 5, 5, 0), "b": (1, -1, 1)}
    result = []
    for document in (first, second):
        words, start = document.text.split(), 0
        tokens = []
        for word in words:
            tokens.append((start, start + len(word)))
            start += len(word) + 1
        sentence = Sentence(0, len(document.text), tuple(tokens), trees[document.id])
        result.append(document.replace(sentences=(sentence,)))
    return result


def batch_of(model: Model) -> tuple[WordBatch, list[list[TokenEntity]], list]:
    windower = Windower(model.config, model.reader, model.max_subwords)
    windows, entities = [], []
    for document in sentences():
        windows += windower.windows(document)[0]
        entities += align(document)[0]
    return word_batch(windows, model.reader), entities, windows


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_gcn_is_the_equation(blocks: int) -> None:
    torch.manual_seed(1)
    module = (
        Aggcn(size=8, output_size=3, blocks=blocks, heads=2, first_layers=2, further_layers=4, dropout=0.5)
        .double()
        .eval()
    )
    heads = [[1, -1, 1, 2, -1], [2, 2, -1]]
    words = torch.randn(2, 5, 8, dtype=torch.float64)
    padded = torch.tensor([heads[0], [*heads[1], -1, -1]])
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    found = module(words, padded, torch.tensor([True, True]), mask)
    for row, tree in enumerate(heads):
        expected = reference.aggcn(module, list(words[row, : len(tree)]), tree)
        torch.testing.assert_close(found[row, : len(tree)], torch.stack(expected), **CLOSE)


def test_a_sentence_without_a_parse_gets_nothing_from_syntax() -> None:
    module = Aggcn(size=8, output_size=3, blocks=2, heads=2, first_layers=2, further_layers=2, dropout=0.0)
    words = torch.randn(2, 4, 8)
    heads = torch.full((2, 4), -1)
    found = module(words, heads, torch.tensor([True, False]), torch.ones(2, 4, dtype=torch.bool))
    assert found[0].abs().sum() > 0
    assert found[1].abs().sum() == 0


@pytest.mark.parametrize("hidden", [[], [15], [15, 10]])
@pytest.mark.parametrize("max_width", [1, 3, None])
def test_span_and_pair_scores_are_the_equations(hidden: list[int], max_width: int | None) -> None:
    model = toy_model(head={"max_width": max_width, "fragments": {"hidden": hidden}, "relations": {"hidden": hidden}})
    head, words, batch = _in_double(model)
    scores, valid = head.span_scores(words, batch)
    for row, length in enumerate(batch.lengths):
        for i, j in _spans(length, max_width):
            span = reference.span_vector(words[row], head.widths.table, i, j)
            torch.testing.assert_close(
                scores[row, i, j - i].double(), reference.fragment_scores(head.fragments, span), **CLOSE
            )
            assert valid[row, i, j - i]
    assert valid.sum() == sum(len(_spans(length, max_width)) for length in batch.lengths)


@pytest.mark.parametrize("overlapping", [True, False])
@pytest.mark.parametrize("multilabel", [True, False])
def test_loss_is_the_equation(overlapping: bool, multilabel: bool) -> None:
    model = toy_model(
        head={
            "max_width": 6,
            "labels": "many" if multilabel else "one",
            "alpha": 0.7,
            "beta": 0.6,
            "relations": {"overlapping": overlapping},
        }
    )
    head, words, batch = _in_double(model)
    _, entities, windows = batch_of(model)
    # Some spans are predicted without being gold, so that pairs come from both.
    head.fragments.first.weight.data *= 4
    head.fragments.rest[-1].bias.data.zero_()
    scores, valid = head.span_scores(words, batch)
    targets = head.batch_targets(
        [head.window_targets(window, own) for window, own in zip(windows, entities, strict=True)]
    )
    found = head.loss(words, batch, targets)
    margin = margins(scores.detach(), valid, multilabel=multilabel)
    candidates = head._candidates(margin, batch.lengths, targets)
    expected = _literal_loss(head, words, batch, entities, scores, candidates)
    assert len(candidates) > len(targets.spans) + 3
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


def _literal_loss(
    head: SpanHead,
    words: Tensor,
    batch: WordBatch,
    entities: list[list[TokenEntity]],
    scores: Tensor,
    candidates: SpanPlaces,
) -> Tensor:
    chosen = set(zip(candidates.row.tolist(), candidates.start.tolist(), candidates.end.tolist(), strict=True))
    total = torch.zeros((), dtype=torch.float64)
    for row, length in enumerate(batch.lengths):
        gold: dict[tuple[int, int], set[str]] = {}
        for entity in entities[row]:
            for first, end in entity.ranges:
                gold.setdefault((first, end - 1), set()).add(entity.label)
        taken = []
        for i, j in _spans(length, head.max_width):
            found = scores[row, i, j - i].double()
            labels = gold.get((i, j), set())
            if head.multilabel:
                for number, label in enumerate(head.labels, 1):
                    probability = 1 / (1 + (-found[number]).exp())
                    total -= head.alpha * (probability if label in labels else 1 - probability).log()
            else:
                wanted = 1 + head.labels.index(min(labels)) if labels else NONE
                total += head.alpha * reference.negative_log_likelihood(found, wanted)
            assert (row, i, j + 1) in chosen or not labels
            if (row, i, j + 1) in chosen:
                taken.append((i, j))
        for first, second in combinations(taken, 2):
            together = any({first, second} <= {(a, b - 1) for a, b in e.ranges} for e in entities[row])
            share = first in gold and second in gold and second[0] <= first[1]
            relation = Relation.SUCCESSION if together else Relation.OTHER
            if share and head.overlapping:
                relation = Relation.OVERLAPPING
            vectors = [reference.span_vector(words[row], head.widths.table, i, j) for i, j in (first, second)]
            found = reference.relation_scores(head.relations, *vectors)
            total += head.beta * reference.negative_log_likelihood(found, relation)
    return total


def test_words_are_encoder_then_lstm_then_syntax() -> None:
    model = toy_model(encoder={"lstm": LSTM}, syntax={"parser": "data", "gcn": GCN})
    batch, _, _ = batch_of(model)
    words = model.network.words
    encoded = words.encoder(batch)
    states = words.lstm(encoded, batch.lengths)
    syntax = words.gcn(states, batch.heads, batch.parsed, batch.word_mask)
    assert states.shape == (2, 6, 16)
    assert syntax.shape == (2, 6, 6)
    torch.testing.assert_close(words(batch), torch.cat([states, syntax], dim=-1))


def test_padding_changes_nothing() -> None:
    model = toy_model(encoder={"lstm": LSTM}, syntax={"parser": "data", "gcn": GCN})
    batch, _, windows = batch_of(model)
    alone = word_batch(windows[1:], model.reader)
    together = model.network.words(batch)[1, : len(windows[1])]
    torch.testing.assert_close(model.network.words(alone)[0], together, **CLOSE)


def _in_double(model: Model) -> tuple[SpanHead, Tensor, WordBatch]:
    batch, _, _ = batch_of(model)
    network = model.network.double()
    head = network.head
    assert isinstance(head, SpanHead)
    return head, network.words(batch).detach(), batch


def _spans(length: int, max_width: int | None) -> list[tuple[int, int]]:
    return [(i, j) for i in range(length) for j in range(i, min(length, i + (max_width or length)))]
