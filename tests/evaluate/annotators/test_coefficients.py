from __future__ import annotations

import random

import pytest

from annotated import annotated
from disconer.evaluate.annotators.coefficients import Alpha, Kappa, word_categories


def kappa(first: str, second: str) -> float | None:
    """Each letter is the category of a word."""
    tally = Kappa()
    tally.add(first, second)
    return tally.estimate().value


def alpha(*ratings: str) -> float | None:
    tally = Alpha()
    tally.add(ratings)
    return tally.estimate().value


def test_kappa_by_hand() -> None:
    # Of 10 words, 7 agree. First: 6 x and 4 y; second: 5 x and 5 y. By chance: 0.6 · 0.5 + 0.4 · 0.5 = 0.5.
    assert kappa("xxxxxxyyyy", "xxxxyyyyyx") == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_alpha_by_hand() -> None:
    # The same words: 20 values, 11 x and 9 y; 3 words disagree, each with 2 ordered pairs of values.
    # Observed: 6 / 20. Expected: (20² - 11² - 9²) / (20 · 19) = 198 / 380.
    assert alpha("xxxxxxyyyy", "xxxxyyyyyx") == pytest.approx(1 - (6 / 20) / (198 / 380))


def test_alpha_of_documents_with_different_annotators_by_hand() -> None:
    # Three annotators: words xxx, xxy (4 of 6 ordered pairs differ, divided by 2). Two annotators: words xy, yy.
    # Values: 6 + 4 = 10, of which x 6 and y 4... xxx and xxy have 5 x and 1 y; xy and yy 1 x and 3 y.
    # Observed: (4 / 2 + 2 / 1) / 10. Expected: (100 - 36 - 16) / 90.
    tally = Alpha()
    tally.add(["xx", "xx", "xy"])
    tally.add(["xy", "yy"])
    tally.add(["xyxyxyx"])  # alone: nothing to compare
    assert tally.estimate().value == pytest.approx(1 - (4 / 10) / (48 / 90))


def test_nothing_to_agree_on_has_no_figure() -> None:
    assert kappa("xxx", "xxx") is None
    assert alpha("xxx", "xxx") is None
    assert kappa("", "") is None
    assert alpha() is None


def test_categories_are_sets_of_labels() -> None:
    document = annotated("ADR: severe pain", "Severity: severe", "ADR: pain … hands", text="severe pain in hands")
    names = ["+".join(sorted(own)) for own in word_categories(document)]
    assert names == ["ADR+Severity", "ADR", "", "ADR"]


def test_intervals_contain_the_figure_and_narrow_with_documents() -> None:
    widths = []
    for n_documents in (10, 160):
        rng = random.Random(1)
        tally = Kappa()
        for _ in range(n_documents):
            first = rng.choices("xy", k=20)
            tally.add(first, [one if rng.random() < 0.8 else "x" for one in first])
        value, interval = tally.estimate()
        assert interval.low < value < interval.high
        widths.append(interval.high - interval.low)
    assert widths[1] == pytest.approx(widths[0] / 4, rel=0.5)


def random_ratings(seed: int, annotators: int) -> list[str]:
    rng = random.Random(seed)
    truth = rng.choices("xyz", weights=(8, 1, 1), k=200)
    return ["".join(one if rng.random() < 0.9 else rng.choice("xyz") for one in truth) for _ in range(annotators)]


@pytest.mark.parametrize("seed", range(5))
def test_equals_nltk(seed: int) -> None:
    agreement = pytest.importorskip("nltk.metrics.agreement")
    ratings = random_ratings(seed, 3)
    data = [
        (f"annotator {who}", word, category) for who, own in enumerate(ratings) for word, category in enumerate(own)
    ]
    assert alpha(*ratings) == pytest.approx(agreement.AnnotationTask(data).alpha())
    two = agreement.AnnotationTask([row for row in data if row[0] != "annotator 2"])
    assert kappa(*ratings[:2]) == pytest.approx(two.kappa())


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = random_ratings(seed, 2)
    assert kappa(first, second) == pytest.approx(metrics.cohen_kappa_score(list(first), list(second)))
