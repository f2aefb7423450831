"""The combined head: evidence against plain sums, training against prediction step by step."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path as FilePath

import numpy as np
import pytest
import torch

from disconer import DisconerError, Recognizer
from disconer.export.onnx import export_model
from disconer.nn.devices import WordBatch
from disconer.nn.heads.combined import COMBINED
from disconer.nn.heads.combined.evidence import SetBatch, SpanEvidence, asked_about, covering, word_sets
from disconer.nn.heads.combined.head import CombinedHead, CombinedTargets
from disconer.nn.heads.combined.kind import CombinedSettings
from disconer.nn.heads.span.targets import Relation, span_targets
from disconer.nn.heads.transition.actions import State, ranges_of
from disconer.nn.heads.transition.targets import action_targets
from nn.heads.transition.test_head import WORD_SIZE, Sentences, batch_of, random_actions, scored_one_by_one
from nn.toy import toy_model

MAX_WIDTH = 3
SMALL = {
    "spans": {"max_width": MAX_WIDTH, "width_size": 2, "fragments": {"hidden": [5]}, "relations": {"hidden": [4]}},
    "transitions": {"stack": 5, "actions": 3, "hidden": 6, "dropout": 0.0},
}
LABELS = ("ADR", "Drug")


def lively_head() -> CombinedHead:
    torch.manual_seed(5)
    head = COMBINED.build(CombinedSettings.model_validate(SMALL), LABELS, word_size=WORD_SIZE).eval()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.8)
    return head


def targets_of(actions: list[int], n_words: int) -> CombinedTargets:
    """Of actions that are not those of any entities."""
    state, asked = State(), []
    for action in actions:
        asked.append(asked_about(state, n_words))
        state = state.after(action)
    gold = [("ADR", ((0, 1),))]
    taught = np.ones(n_words, dtype=bool)
    return CombinedTargets(span_targets(gold), action_targets(actions, taught), word_sets([0] * len(asked), asked))


def evidence_of(head: CombinedHead, words: torch.Tensor, batch: WordBatch) -> SpanEvidence:
    return SpanEvidence(head.spans, words, *head.spans.span_scores(words, batch))


@torch.no_grad()
def test_the_evidence_of_a_set_is_that_of_its_weakest_fragment_and_pair() -> None:
    head = lively_head()
    words, batch = batch_of(9, 7)
    evidence = evidence_of(head, words, batch)
    spans = [0b11, 0b1100_1011, 0b11110]  # one fragment; three; one that is too wide
    made = word_sets([1, 1], [(*spans, 0), (spans[1], 0, 0, 0)])
    assert made.asked.tolist() == [[1, 2, 3, 0], [2, 0, 0, 0]]
    sets = SetBatch(*(torch.from_numpy(one) for one in made[:3]), made.n_sets)
    found = evidence.of_sets(sets)
    assert found[0].tolist() == [0, 0, 0]
    for number, span in enumerate(spans, 1):
        ranges = ranges_of(span)
        scores = evidence.probabilities[1]
        wide = max(end - start for start, end in ranges) > MAX_WIDTH
        labels = [0.0, 0.0] if wide else [min(float(scores[s, e - s - 1, y]) for s, e in ranges) for y in (0, 1)]
        pairs = [_succession(head, words, one, other) for one, other in pairwise(ranges)]
        assert found[number].tolist() == pytest.approx([*labels, min(pairs, default=1.0)], abs=1e-6)


def _succession(head: CombinedHead, words: torch.Tensor, one: tuple[int, int], other: tuple[int, int]) -> float:
    place = torch.tensor([[1, 1], [one[0], other[0]], [one[1] - one[0] - 1, other[1] - other[0] - 1]])
    scores = head.spans.relation_scores(words, place, torch.tensor([[0], [1]]))
    return float(scores.softmax(-1)[0, Relation.SUCCESSION])


def test_the_evidence_of_a_word_is_that_of_the_best_span_around_it() -> None:
    torch.manual_seed(3)
    probabilities = torch.rand(2, 6, 4, 2)
    found = covering(probabilities)
    for row, word, label in np.ndindex(2, 6, 2):
        around = [(s, w) for s in range(6) for w in range(4) if s <= word <= s + w]
        assert found[row, word, label] == max(probabilities[row, s, w, label] for s, w in around)


@torch.no_grad()
def test_a_batch_gives_what_actions_one_by_one_give() -> None:
    head, lengths = lively_head(), [14, 1, 20, 4]
    words, batch = batch_of(*lengths)
    actions = [random_actions(n, seed) for seed, n in enumerate(lengths)]
    made = head.batch_targets([targets_of(one, n) for one, n in zip(actions, lengths, strict=True)])
    total = float(head.spans.loss(words, batch, made.spans))
    for row, (own, n_words) in enumerate(zip(actions, lengths, strict=True)):
        sentence = words[row, :n_words]
        evidence = evidence_of(head, sentence[None], Sentences([n_words]))  # type: ignore[arg-type]
        hints = partial(head._hints, evidence, [n_words])
        scores = scored_one_by_one(head.transitions, sentence, own, hints)
        assert scores != pytest.approx(scored_one_by_one(head.transitions, sentence, own), abs=1e-3)
        total -= sum(scores)
    assert float(head.loss(words, batch, made)) == pytest.approx(total, rel=1e-5)


@torch.no_grad()
def test_a_window_finds_the_same_whatever_shares_its_batch() -> None:
    head, lengths = lively_head(), [7, 1, 9, 4]
    words, batch = batch_of(*lengths)
    together = head.collect(head.launch(words, batch))
    assert sum(map(len, together)) > 4
    for row, n_words in enumerate(lengths):
        alone: WordBatch = Sentences([n_words])  # type: ignore[assignment]
        [own] = head.collect(head.launch(words[row : row + 1, :n_words], alone))
        assert [one[:2] for one in own] == [one[:2] for one in together[row]]
        assert [one.score for one in own] == pytest.approx([one.score for one in together[row]], abs=1e-5)


def test_the_span_head_learns_from_its_own_loss_only() -> None:
    head = lively_head()
    words, batch = batch_of(8)
    made = head.batch_targets([targets_of(random_actions(8, 1), 8)])
    head.loss(words, batch, made).backward()
    both = [parameter.grad for parameter in head.spans.parameters()]
    assert head.evidence.linear.weight.grad is not None
    assert head.evidence.linear.weight.grad.any()
    head.zero_grad()
    head.spans.loss(words, batch, made.spans).backward()
    torch.testing.assert_close(both, [parameter.grad for parameter in head.spans.parameters()])


def test_there_is_no_graph_of_it_and_that_is_said(tmp_path: FilePath) -> None:
    model = toy_model(("ADR",), head={"kind": "combined", **SMALL})
    with pytest.raises(DisconerError, match="A head of kind combined has no ONNX graph"):
        export_model(model, tmp_path / "out")
    found = Recognizer(model).pipe(["Pain and stiffness in my knees.", "", "k " * 90])
    assert [len(document.text) for document in found] == [31, 0, 180]
