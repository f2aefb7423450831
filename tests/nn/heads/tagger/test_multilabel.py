"""Several tags per word: what they represent, and how entities and scores are read from probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.nn.heads.tagger import TAGGER
from disconer.nn.heads.tagger.kind import TaggerSettings
from disconer.nn.heads.tagger.multilabel import MULTILABEL, read_tag_sets
from disconer.nn.heads.tagger.parts import Key
from disconer.nn.heads.tagger.schemes import BIOHD1234
from nn.heads.sentences import LABELS, N_WORDS, X, Y, sentences


@given(gold=sentences())
def test_tags_stand_for_exactly_what_is_not_lost(gold: list[Key]) -> None:
    tags, lost = MULTILABEL.encode(gold, N_WORDS)
    assert set().union(*tags) <= set(MULTILABEL.tags(LABELS))
    found = MULTILABEL.decode(tags)
    assert len(found) == len(set(found))
    assert set(found) == set(gold) - set(lost)


@given(tags=st.lists(st.sets(st.sampled_from(MULTILABEL.tags(LABELS)), max_size=4), max_size=N_WORDS))
def test_any_tags_stand_for_entities_of_words_that_have_them(tags: list[set[str]]) -> None:
    for label, ranges in MULTILABEL.decode(tags):
        words = [word for first, end in ranges for word in range(first, end)]
        assert words == sorted(set(words))
        assert all(any(tag.endswith(f"-{label}") for tag in tags[word]) for word in words)


@given(gold=sentences())
def test_labels_do_not_disturb_each_other(gold: list[Key]) -> None:
    lost = set(MULTILABEL.encode(gold, N_WORDS).lost)
    alone = [MULTILABEL.encode([key for key in gold if key[0] == label], N_WORDS).lost for label in LABELS]
    assert lost == {key for own in alone for key in own}


@pytest.mark.parametrize(
    ("gold", "tags"),
    [
        ([(X, ((0, 2),)), (Y, ((1, 3),))], "B-X|B-Y,I-X|I-Y"),
        ([(X, ((0, 3),)), (X, ((1, 3),))], "B-X|B-X,I-X|I-X"),
        ([(X, ((0, 3),)), (X, ((0, 1), (2, 3)))], "B-X,D4B-X|I-X|D2B-X,I-X"),
        ([(X, ((0, 1), (2, 3))), (X, ((1, 3),))], "D4B-X|B-X|D2B-X,I-X"),
    ],
    ids=["labels share a word", "nested, ending together", "whole and its ends", "a shared tail"],
)
def test_by_hand(gold: list[Key], tags: str) -> None:
    encoded = MULTILABEL.encode(gold, 3)
    assert ["|".join(",".join(sorted(own)) for own in encoded.tags), encoded.lost] == [tags, ()]
    assert BIOHD1234.encode(gold, 3).lost != () or tags.startswith("D4B")  # of these, one tag per word has the last


def test_what_is_lost_has_a_reason() -> None:
    class One:  # as much of an entity as an oracle reads
        def __init__(self, *key: object) -> None:
            self.key = key

    same_start = [One(X, ((0, 3),)), One(X, ((0, 2),)), One(Y, ((0, 3),))]
    reach = TAGGER.reach(same_start, 3, TaggerSettings(scheme="multilabel"))  # type: ignore[arg-type]
    assert reach.lost == {
        (X, ((0, 2),)): "shares words with another entity in a way that multilabel cannot express (head.scheme)"
    }


def test_the_score_is_the_probability_of_the_tags_and_that_no_part_goes_on() -> None:
    tags = MULTILABEL.tags([X])
    chances = np.full((1, 5, len(tags)), 0.25, dtype=np.float32)
    for word, tag in [(0, "B-X"), (1, "I-X"), (3, "D4B-X"), (4, "D2B-X")]:
        chances[0, word, tags.index(tag)] = 0.75
    chances[0, 4, tags.index("D4I-X")] = 0.0
    [found] = read_tag_sets(chances, [5], tags)
    assert [(one.label, one.ranges) for one in found] == [(X, ((0, 2),)), (X, ((3, 5),))]
    assert [one.score for one in found] == pytest.approx([0.75**2 * 0.75, 0.75**2])  # the sentence ends with the other
