from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given

from annotated import annotated, small_pairs
from disconer import DisconerError, Document, Kind
from disconer.evaluate import Evaluation
from disconer.evaluate.annotators.agreement import ALL, Agreement, agreement
from disconer.evaluate.annotators.agreement_table import tables
from disconer.evaluate.annotators.disputes import Disagreement, agreed, disputes

ANNA = [
    annotated("ADR: severe pain … hands", "ADR: severe pain in knees", "ADR: itching", "Drug: left … arm", "ADR: mild"),
    annotated("ADR: pain", id="e"),
]
BEN = [
    annotated("ADR: pain … hands", "ADR: severe pain in knees", "Drug: itching", "Drug: left and right arm"),
    annotated("ADR: pain", id="e"),
    annotated("ADR: pain", id="f"),
]
CARL = [annotated("ADR: pain … hands", "Drug: itching")]


def compared(**annotators: Iterable[Document]) -> Agreement:
    return agreement(annotators)


def test_f1_by_hand() -> None:
    pair = compared(anna=ANNA, ben=BEN).pairs["anna", "ben"]
    # In common: pain in knees, and pain of the other document. anna has 6 in all, ben 5 in the two documents.
    assert pair.documents == 2
    assert pair.exact.all.f1(ALL).value == pytest.approx(2 * 2 / (6 + 5))
    # By overlap: 4 of anna's ADR and Drug have a partner of their label, but itching and mild have none;
    # of ben's all but itching: recall 4/6, precision 4/5.
    assert pair.overlap.all.f1(ALL).value == pytest.approx(2 * (4 / 6) * (4 / 5) / (4 / 6 + 4 / 5))
    assert pair.exact.labels.f1("ADR").value == pytest.approx(2 * 2 / (5 + 3))
    assert pair.exact.labels.f1("Drug").value == 0
    assert pair.overlap.labels.f1("Drug").value == pytest.approx(2 * 1 * 0.5 / 1.5)
    assert pair.exact.kinds.f1(Kind.DISCONTINUOUS).value == 0  # two of anna's, one of ben's
    assert pair.overlap.kinds.f1(Kind.DISCONTINUOUS).value == 1


def test_kappa_over_words_by_hand() -> None:
    pair = compared(anna=ANNA[:1], ben=BEN[:1]).pairs["anna", "ben"]
    # Of 13 words: severe pain in knees (ADR), and (none), hands (ADR), mild (ADR, none), itching (ADR, Drug),
    # of (none), left (Drug), and right (none, Drug; twice), arm (Drug). 9 agree.
    # anna: 7 ADR, 2 Drug, 4 none; ben: 5 ADR, 5 Drug, 3 none.
    expected = (7 * 5 + 2 * 5 + 4 * 3) / 13**2
    assert pair.kappa.words == 13
    assert pair.kappa.estimate().value == pytest.approx((9 / 13 - expected) / (1 - expected))
    # Drug or not: anna 2, ben 5 of 13 words; 10 agree.
    expected = (2 * 5 + 11 * 8) / 13**2
    assert pair.label_kappa("Drug").value == pytest.approx((10 / 13 - expected) / (1 - expected))


def test_documents_that_only_some_have_are_counted() -> None:
    result = compared(anna=ANNA, ben=BEN, carl=CARL)
    assert (result.by_all, result.by_some, result.by_annotators[1]) == (1, 2, 1)
    assert result.to_dict()["documents"] == {
        "all": 3, "by_all_annotators": 1, "by_some_annotators": 2, "by_number_of_annotators": {"1": 1, "2": 1, "3": 1},
    }  # fmt: skip
    assert result.documents == {"anna": 2, "ben": 3, "carl": 1}
    notes = next(tables(result)).note
    assert notes == (
        "1 document is annotated by all annotators, 2 by only some of them, of which 1 by one alone and not compared."
    )


def test_disagreements_by_class() -> None:
    result = compared(anna=ANNA, ben=BEN)
    pair = result.pairs["anna", "ben"]
    assert pair.disagreements == dict.fromkeys(Disagreement, 1)
    assert pair.missed_by == {"ben": 1}  # mild


def test_disputes_are_what_shares_text() -> None:
    versions = {"anna": ANNA[0], "ben": BEN[0], "carl": CARL[0]}
    assert agreed(versions) == ()
    found = [
        (one.start, one.end, [len(own) for own in one.versions.values()], one.classes) for one in disputes(versions)
    ]
    assert found == [
        (0, 30, [2, 2, 1], ["missed", "boundary"]),  # pain … hands, and pain in knees, which carl missed
        (31, 35, [1, 0, 0], ["missed"]),
        (36, 43, [1, 1, 1], ["label"]),
        (47, 65, [1, 1, 0], ["missed", "fragments"]),
    ]


@given(small_pairs())
def test_equals_evaluation_and_is_symmetric(pair: tuple[Document, Document]) -> None:
    first, second = pair
    evaluation = Evaluation()
    evaluation.add(first, second)
    result = compared(first=[first], second=[second]).pairs["first", "second"]
    other = compared(second=[second], first=[first]).pairs["second", "first"]
    assert result.exact.all.total(ALL) == evaluation.overall
    assert result.overlap.all.total(ALL) == evaluation.lenient.same_label
    assert sum(result.disagreements.values()) == sum(count.errors for count in evaluation.errors.values())
    assert other.exact.all.f1(ALL) == result.exact.all.f1(ALL)
    assert other.kappa.estimate() == result.kappa.estimate()


@given(small_pairs())
def test_every_entity_is_agreed_on_or_in_one_dispute(pair: tuple[Document, Document]) -> None:
    versions = dict(zip(("first", "second"), pair, strict=True))
    common = {entity.key for entity in agreed(versions)}
    disputed = [{entity.key for entity in dispute.entities} for dispute in disputes(versions)]
    for document in pair:
        for entity in document.entities:
            assert (entity.key in common) + sum(entity.key in own for own in disputed) == 1


def test_json_keys_stay() -> None:
    figures = json.loads(json.dumps(compared(anna=ANNA, ben=BEN).to_dict()))
    assert list(figures) == ["annotators", "documents", "alpha", "pairs", "intervals"]
    assert list(figures["pairs"][0]) == [
        "annotators", "documents", "exact", "overlap", "kappa", "kinds", "labels", "disagreements", "missed_by",
    ]  # fmt: skip
    assert list(figures["pairs"][0]["labels"]["ADR"]) == ["exact", "overlap", "kappa"]


def test_other_texts_and_nothing_in_common() -> None:
    with pytest.raises(DisconerError, match="anna and ben have different texts of this document"):
        compared(anna=ANNA, ben=[Document("d", "pain")])
    with pytest.raises(DisconerError, match=r"No two annotators have a document in common\. Got anna: d, e, ben: f"):
        compared(anna=ANNA, ben=BEN[2:])
