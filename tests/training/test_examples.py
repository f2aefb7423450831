from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import Document, Entity, Sentence
from disconer.config import Config, DataConfig, TrainingConfig
from disconer.nn.encoders.transformer import SubwordTokenizer
from disconer.nn.heads.span.kind import SpanSettings
from disconer.nn.heads.span.targets import too_wide
from disconer.nn.reader import Subwords
from disconer.nn.windows import Window, Windower
from disconer.text import segment
from disconer.training.examples import Example, Learnable, Plan, make_examples
from nn.toy import toy_tokenizer


def account(document: Document, max_width: int | None, max_subwords: int = 64) -> Learnable:
    windower = Windower(Config(data=DataConfig(train="t", dev="d")), SubwordTokenizer(toy_tokenizer()), max_subwords)
    found = Learnable(SpanSettings(max_width=max_width))
    make_examples([segment(document)], windower, found)
    return found


def test_nothing_to_say_about_what_can_be_learnt() -> None:
    found = account(Document("d", "pain in knees", (Entity("ADR", ((0, 13),)),)), 3)
    assert found.learnable == found.entities == 1
    assert list(found.lines()) == []


def test_each_entity_is_counted_under_one_reason() -> None:
    text = "ab cd ef gh ij"
    sentences = (Sentence(0, 5, ((0, 2), (3, 5))), Sentence(6, 14, ((6, 8), (9, 11), (12, 14))))
    entities = (
        Entity("X", ((0, 1),)),  # inside a token
        Entity("X", ((3, 8),)),  # crosses
        Entity("X", ((6, 14),)),  # three words
        Entity("X", ((6, 8), (12, 14))),
    )
    found = account(Document("d", text, entities, sentences), 2)
    assert (found.entities, found.learnable, found.lost, found.cut) == (4, 1, {too_wide(2): 1}, 0)
    assert list(found.lines()) == [
        "2 of 4 training entities cannot be expressed by tokens of one sentence "
        "(1 starts or ends inside a token, 1 crosses a sentence boundary)",
        f"1 of 4 training entities cannot be found: each {too_wide(2)}",
    ]
    assert account(Document("d", text, entities, sentences), None).lost == {}


def test_what_is_no_word_is_not_read() -> None:
    text = "pain\n====\nfever"
    found = account(Document("d", text, (Entity("X", ((0, 4),)), Entity("X", ((5, 9),)))), None)
    assert (found.learnable, found.cut) == (1, 0)
    (line,) = found.lines()
    assert line.endswith("cannot be found: each is in a sentence without letters and digits")


def test_entities_that_cut_words_are_counted_if_they_are_not_to_be_found() -> None:
    """Letters and digits are tokens of their own, so a head could find them."""
    document = segment(Document("d", "75 mg/m2", (Entity("X", ((0, 7),)), Entity("X", ((0, 8),)))))
    windower = Windower(Config(data=DataConfig(train="t", dev="d")), SubwordTokenizer(toy_tokenizer()), 64)
    for whole_words, learnable in ((False, 2), (True, 1)):
        found = Learnable(SpanSettings(max_width=None), whole_words=whole_words)
        make_examples([document], windower, found)
        assert (found.entities, found.learnable) == (2, learnable)
    assert list(found.lines()) == [
        "1 of 2 training entities cannot be found: each begins or ends inside a word (data.whole_words)"
    ]


def test_an_entity_in_one_of_several_windows_is_not_cut() -> None:
    text = " ".join(["word"] * 20)
    near, far = Entity("X", ((0, 4),)), Entity("X", ((0, 4), (95, 99)))
    found = account(Document("d", text, (near, far)), None, max_subwords=34)
    assert (found.entities, found.cut, found.learnable) == (2, 1, 1)
    (line,) = found.lines()
    assert line == "1 of 2 training entities is cut where a sentence is too long for the encoder's window"


def test_an_entity_in_a_window_that_does_not_own_its_first_word_is_cut() -> None:
    """Its own window ends within it, and the next one, which holds it, leaves what starts there to the one before."""
    text = " ".join(["word"] * 20)
    windower = Windower(Config(data=DataConfig(train="t", dev="d")), SubwordTokenizer(toy_tokenizer()), 34)
    first, second, *_ = windower.windows(segment(Document("d", text)))[0]
    assert second.start < first.own[1]  # they overlap
    across = Entity("X", ((5 * second.start, 5 * first.end + 4),))  # from the start of the second to past the first
    inside = Entity("X", ((5 * first.own[1], 5 * first.end + 4),))
    found = account(Document("d", text, (across, inside)), None, max_subwords=34)
    assert (found.entities, found.cut, found.learnable) == (2, 1, 1)


LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=60)
MOST = 64  # words of a batch
CONTEXT = 50


def examples_of(lengths: list[int], *, a_document: int = 1) -> list[Example]:
    """So many words each, of one subword; so many examples a document."""
    found = []
    for number, n_words in enumerate(lengths):
        tokens = tuple((2 * n, 2 * n + 1) for n in range(n_words))
        subwords = Subwords(np.arange(n_words), np.arange(n_words), np.arange(1, n_words + 1))
        window = Window(Sentence(0, 2 * n_words, tokens), 0, n_words, (0, n_words), subwords)
        found.append(Example(window, [], number // a_document))
    return found


def plans(
    lengths: list[int],
    n_processes: int,
    *,
    a_document: int = 1,
    context: int = 0,
    epochs: int = 2,
    steps_at_least: int = 0,
    **settings: int,
) -> list[Plan]:
    several = {"epochs": epochs, "patience": epochs, "steps_at_least": steps_at_least}
    config = TrainingConfig(**{"batch_tokens": MOST} | several | settings)
    examples = examples_of(lengths, a_document=a_document)
    return [
        Plan(examples, config, context=context, process=process, n_processes=n_processes)
        for process in range(n_processes)
    ]


@given(LENGTHS, st.integers(1, 4), st.integers(1, 3), st.integers(1, 9), st.sampled_from([0, CONTEXT]))
def test_every_example_counts_once_whatever_the_processes(
    lengths: list[int], n_processes: int, accumulate: int, a_document: int, context: int
) -> None:
    found = plans(lengths, n_processes, a_document=a_document, context=context, accumulate=accumulate)
    shares = [plan.steps(1) for plan in found]
    assert len({len(steps) for steps in shares}) == 1  # processes keep step
    batches = [batch for steps in shares for step in steps for batch in step]
    counted = Counter(example for batch in batches if batch.weight for example in batch.examples)
    assert counted == Counter(range(len(lengths)))
    for together in zip(*shares, strict=True):
        assert all(together)
        own = [batch for step in together for batch in step if batch.weight]
        # Each process sums its weighted losses, then all are averaged: that must be the mean over examples.
        assert sum(batch.weight * len(batch.examples) for batch in own) / n_processes == pytest.approx(1)


@given(LENGTHS, st.integers(1, 3))
def test_two_processes_take_what_one_accumulates(lengths: list[int], accumulate: int) -> None:
    (alone,) = plans(lengths, 1, a_document=4, context=CONTEXT, accumulate=2 * accumulate)
    pair = plans(lengths, 2, a_document=4, context=CONTEXT, accumulate=accumulate)
    for step, *shares in zip(alone.steps(1), *(plan.steps(1) for plan in pair), strict=True):
        taken = {(tuple(batch.examples), batch.seed) for share in shares for batch in share}
        assert taken == {(tuple(batch.examples), batch.seed) for batch in step}


@given(LENGTHS, st.sampled_from([0, CONTEXT]))
def test_batches_keep_to_the_budget_and_steps_are_counted(lengths: list[int], context: int) -> None:
    (plan,) = plans(lengths, 1, a_document=5, context=context)
    for step in plan.steps(2):
        for batch in step:
            sizes = [sum(lengths[example] for example in passage) for passage in batch.passages]
            assert len(sizes) == 1 or max(sizes) * len(sizes) <= MOST
    assert plan.count_steps() == len(plan.steps(1)) + len(plan.steps(2))


def test_one_long_sentence_does_not_pad_hundreds_of_short_ones() -> None:
    """Passages are of one size here: the lines of four documents, and a sentence that is as long as ten of them."""
    lengths = [*[1] * 160, 40]
    (plan,) = plans(lengths, 1, a_document=40, context=CONTEXT, batch_tokens=200)
    for epoch in (1, 2):
        batches = [batch for step in plan.steps(epoch) for batch in step]
        assert sorted(example for batch in batches for example in batch.examples) == list(range(161))
        for batch in batches:
            padded = len(batch.examples) * max(lengths[example] for example in batch.examples)
            assert padded <= 16 * 200


@given(LENGTHS, st.integers(1, 9))
def test_a_passage_is_a_stretch_of_one_document(lengths: list[int], a_document: int) -> None:
    (plan,) = plans(lengths, 1, a_document=a_document, context=CONTEXT)
    for batch in (batch for step in plan.steps(1) for batch in step):
        for passage in batch.passages:
            assert passage == list(range(passage[0], passage[-1] + 1))
            assert passage[0] // a_document == passage[-1] // a_document
            assert len(passage) == 1 or sum(lengths[example] for example in passage) <= CONTEXT


def test_a_document_is_cut_in_another_way_in_each_epoch() -> None:
    (plan,) = plans([5] * 40, 1, a_document=10, context=CONTEXT)
    cuts = [
        sorted(tuple(passage) for step in plan.steps(epoch) for batch in step for passage in batch.passages)
        for epoch in (1, 2)
    ]
    assert cuts[0] != cuts[1]


def test_epochs_and_seeds_differ_and_repeat() -> None:
    lengths = list(range(1, 60))
    (plan,) = plans(lengths, 1)
    (again,) = plans(lengths, 1)
    (other,) = plans(lengths, 1, seed=2)
    assert plan.steps(1) == again.steps(1)
    assert plan.steps(1) != plan.steps(2)
    assert plan.steps(1) != other.steps(1)
    seeds = [batch.seed for epoch in (1, 2) for step in plan.steps(epoch) for batch in step]
    assert len(set(seeds)) == len(seeds)


@given(LENGTHS, st.integers(1, 3), st.integers(1, 40))
def test_epochs_have_no_more_passes_than_the_steps_take(lengths: list[int], accumulate: int, wanted: int) -> None:
    (plan,) = plans(lengths, 1, a_document=4, context=CONTEXT, accumulate=accumulate, steps_at_least=wanted)
    (single,) = plans(lengths, 1, a_document=4, context=CONTEXT, accumulate=accumulate, epochs=2 * plan.passes)
    assert plan.count_steps() == single.count_steps() >= wanted
    (fewer,) = plans(lengths, 1, a_document=4, context=CONTEXT, accumulate=accumulate, epochs=2 * plan.passes - 2 or 1)
    assert plan.passes == 1 or fewer.count_steps() < wanted


def test_a_handful_of_examples_gets_all_steps_by_default() -> None:
    plan = Plan(examples_of([5, 9, 12]), TrainingConfig())
    assert plan.passes == 75
    assert plan.count_steps() == sum(len(plan.steps(epoch)) for epoch in range(1, 21)) == 1500
    counted = Counter(example for step in plan.steps(7) for batch in step for example in batch.examples)
    assert counted == {0: 75, 1: 75, 2: 75}


def test_passes_of_an_epoch_are_those_of_as_many_epochs() -> None:
    lengths = [5] * 40
    (single,) = plans(lengths, 1, a_document=10, context=CONTEXT, epochs=6)
    (plan,) = plans(lengths, 1, a_document=10, context=CONTEXT, steps_at_least=single.count_steps())
    assert plan.passes == 3
    assert plan.steps(2) == [step for epoch in (4, 5, 6) for step in single.steps(epoch)]


@pytest.mark.slow
@given(LENGTHS, st.integers(1, 4))
def test_processes_make_as_many_passes(lengths: list[int], n_processes: int) -> None:
    pair = plans(lengths, n_processes, a_document=4, context=CONTEXT, steps_at_least=30)
    (alone,) = plans(lengths, 1, a_document=4, context=CONTEXT, accumulate=n_processes, steps_at_least=30)
    assert {plan.passes for plan in pair} == {alone.passes}
    assert {len(plan.steps(2)) for plan in pair} == {len(alone.steps(2))}


def test_a_corpus_that_has_the_steps_keeps_its_plan() -> None:
    """What a seed gave once it always gives: these are the batches of before there were several passes an epoch."""
    lengths = [3, 9, 30, 12, 40, 7, 22, 5, 18, 26, 2, 14]
    (plan,) = plans(lengths, 1, a_document=3, context=CONTEXT, seed=7, steps_at_least=10)
    assert (plan.passes, plan.count_steps()) == (1, 10)
    assert [(batch.passages, batch.seed) for step in plan.steps(2) for batch in step] == [
        ([[7], [5], [0, 1], [3]], 18279110831140952437),
        ([[2]], 10100442772938007519),
        ([[6], [9]], 9094436558345917307),
        ([[10, 11], [8]], 16159197877193197014),
        ([[4]], 7574532469450380563),
    ]
