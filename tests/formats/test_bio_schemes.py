from __future__ import annotations

import pytest

from disconer.formats.bio_schemes import SCHEMES, Key, biohd, decode

X, Y = "X", "Y"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_continuous_entities_come_back_whatever_stands_beside_them(scheme: str) -> None:
    entities = [(X, ((0, 1),)), (X, ((1, 3),)), (Y, ((3, 4),)), (X, ((5, 6),))]
    assert decode(SCHEMES[scheme](entities, 7)) == entities


@pytest.mark.parametrize(
    ("entities", "kept"),
    [
        ([(X, ((0, 3),)), (X, ((1, 2),))], [(X, ((0, 3),))]),  # nested: the outer one
        ([(X, ((0, 2),)), (Y, ((1, 4),))], [(Y, ((1, 4),))]),  # crossing: the longer one
        ([(X, ((0, 2),)), (Y, ((1, 3),))], [(X, ((0, 2),))]),  # of the same length: the earlier one
        ([(X, ((0, 1), (2, 3)))], [(X, ((0, 3),))]),  # discontinuous: flattened
        ([(X, ((0, 1), (2, 3))), (Y, ((1, 2),))], [(Y, ((1, 2),))]),  # a continuous one goes before a flattened
    ],
)
@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_bio_keeps_one_of_two_that_overlap(scheme: str, entities: list[Key], kept: list[Key]) -> None:
    assert decode(SCHEMES[scheme](entities, 5)) == kept


@pytest.mark.parametrize(
    ("entities", "labels"),
    [
        ([(X, ((0, 2), (3, 4)))], "DB-X DI-X O DB-X O"),
        ([(X, ((0, 1), (2, 3))), (X, ((0, 1), (4, 5)))], "HB-X O DB-X O DB-X"),
        ([(X, ((0, 2),)), (X, ((0, 1), (3, 4)))], "HB-X DB-X O DB-X O"),
        ([(X, ((0, 1), (4, 5))), (X, ((1, 2), (4, 5))), (Y, ((2, 4),))], "DB-X DB-X B-Y I-Y HB-X"),
    ],
)
def test_biohd_says_what_shares_a_head(entities: list[Key], labels: str) -> None:
    assert biohd(entities, 5) == labels.split()
    assert sorted(decode(labels.split())) == sorted(entities)


def test_biohd_cannot_tell_two_discontinuous_entities_without_a_head_apart() -> None:
    entities = [(X, ((0, 1), (2, 3))), (X, ((4, 5), (6, 7)))]
    assert decode(biohd(entities, 7)) == [(X, ((0, 1), (2, 3), (4, 5), (6, 7)))]


def test_biohd_drops_the_shorter_of_two_labels() -> None:
    assert decode(biohd([(X, ((0, 1), (2, 4))), (Y, ((2, 3),))], 4)) == [(X, ((0, 1), (2, 4)))]


@pytest.mark.parametrize(
    ("labels", "entities"),
    [
        ("I-X I-X O I-Y", [(X, ((0, 2),)), (Y, ((3, 4),))]),  # IOB1
        ("I-X B-X I-Y O", [(X, ((0, 1),)), (X, ((1, 2),)), (Y, ((2, 3),))]),  # IOB1, side by side
        ("B-X L-X U-X U-Y", [(X, ((0, 2),)), (X, ((2, 3),)), (Y, ((3, 4),))]),  # BILOU
        ("B-X M-X E-X W-Y", [(X, ((0, 3),)), (Y, ((3, 4),))]),  # BMEWO
        ("B-X E-X I-X O", [(X, ((0, 2),)), (X, ((2, 3),))]),  # an end is an end
        ("E-X O S-X I-X", [(X, ((0, 1),)), (X, ((2, 3),)), (X, ((3, 4),))]),  # a start left out
        ("B I O B", [("Entity", ((0, 2),)), ("Entity", ((3, 4),))]),  # without types
        ("BH-X O BD-X ID-X", [(X, ((0, 1), (2, 4)))]),  # BIOHD the other way round
        ("HB-X O HB-X O", [(X, ((0, 1),)), (X, ((2, 3),))]),  # heads alone
        ("B-cell-line I-cell-line O O", [("cell-line", ((0, 2),))]),
    ],
)
def test_labels_of_any_variety_are_understood(labels: str, entities: list[Key]) -> None:
    assert decode(labels.split()) == entities


@pytest.mark.parametrize("label", ["NN", "X-Drug", "B-", "", "o", "U"])
def test_what_is_no_label_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="is not a label"):
        decode([label])
