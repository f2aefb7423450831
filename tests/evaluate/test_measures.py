"""Each measure against a literal count: nested loops over plain lists, as the definitions read."""

from __future__ import annotations

import pytest
from hypothesis import given

from annotated import SENTENCES, TEXT, annotated, entity, small_pairs
from disconer.core.sentence import Sentence
from disconer.core.types import Document, Entity, Kind
from disconer.evaluate import Counts, evaluate


def distinct(things: list) -> list:
    return [thing for number, thing in enumerate(things) if thing not in things[:number]]


def literal(gold: list, predicted: list) -> Counts:
    gold, predicted = distinct(gold), distinct(predicted)
    found = sum(1 for one in gold if one in predicted)
    return Counts(len(gold), found, len(predicted), found)


def keys(document: Document) -> list:
    return [(one.label, one.fragments) for one in document.entities]


def characters(one: Entity) -> set[int]:
    return {place for start, end in one.fragments for place in range(start, end)}


def literal_kind(one: Entity, document: Document) -> str:
    if len(one.fragments) > 1:
        return "discontinuous"
    others = [other for other in document.entities if other.key != one.key]
    return "overlapped" if any(characters(one) & characters(other) for other in others) else "regular"


@given(pair=small_pairs())
def test_entities_and_labels(pair: tuple[Document, Document]) -> None:
    gold, predicted = map(keys, pair)
    evaluation = evaluate([pair[0]], [pair[1]])
    assert evaluation.overall == literal(gold, predicted)
    assert evaluation.labels.keys() == {label for label, _ in gold + predicted}
    for label, counts in evaluation.labels.items():
        assert counts == literal(
            [key for key in gold if key[0] == label], [key for key in predicted if key[0] == label]
        )


@given(pair=small_pairs())
def test_kinds(pair: tuple[Document, Document]) -> None:
    gold, predicted = pair
    evaluation = evaluate([gold], [predicted])
    for kind, counts in evaluation.kinds.items():
        ours = distinct([one.key for one in gold.entities if literal_kind(one, gold) == kind])
        theirs = distinct([one.key for one in predicted.entities if literal_kind(one, predicted) == kind])
        found = [key for key in ours if key in keys(predicted)]
        right = [key for key in theirs if key in keys(gold)]
        assert counts == Counts(len(ours), len(found), len(theirs), len(right))
    alone = [[key for key in keys(document) if len(key[1]) > 1] for document in pair]
    assert evaluation.discontinuous == literal(*alone)


@given(pair=small_pairs())
def test_fragments_and_relations(pair: tuple[Document, Document]) -> None:
    evaluation = evaluate([pair[0]], [pair[1]])
    pieces = [[(label, part) for label, parts in keys(document) for part in parts] for document in pair]
    assert evaluation.fragments == literal(*pieces)
    joined = [
        [(label, {one, other}) for label, parts in keys(document) for one in parts for other in parts if one != other]
        for document in pair
    ]
    assert evaluation.relations == literal(*joined)


@given(pair=small_pairs())
def test_sentences_with_a_discontinuous_entity(pair: tuple[Document, Document]) -> None:
    gold, predicted = pair
    lines = [set(range(sentence.start, sentence.end)) for sentence in SENTENCES]
    chosen = [line for line in lines if any(len(one.fragments) > 1 and characters(one) & line for one in gold.entities)]

    def within(document: Document) -> list:
        return [one.key for one in document.entities if any(characters(one) & line for line in chosen)]

    evaluation = evaluate([gold], [predicted])
    assert evaluation.n_discontinuous_sentences == len(chosen)
    assert evaluation.discontinuous_sentences == literal(within(gold), within(predicted))


def test_sentences_of_the_gold_document_count_where_it_has_them() -> None:
    gold = annotated("ADR: pain … knees", "ADR: itching", "ADR: mild")
    whole = gold.replace(sentences=(Sentence(0, len(TEXT), ()),))
    predicted = annotated("ADR: itching", "ADR: arm")
    assert evaluate([gold], [predicted]).discontinuous_sentences == Counts(gold=1)
    assert evaluate([whole], [predicted]).discontinuous_sentences == Counts(3, 1, 2, 1)


def test_an_entity_may_be_of_another_kind_among_the_predictions() -> None:
    kinds = evaluate([annotated("ADR: pain")], [annotated("ADR: pain", "ADR: severe pain")]).kinds
    assert kinds[Kind.REGULAR] == Counts(gold=1, found=1)
    assert kinds[Kind.OVERLAPPED] == Counts(predicted=2, right=1)


def test_counts_of_documents_add_up() -> None:
    gold = [annotated("ADR: pain", id="a"), annotated("ADR: pain", "Drug: arm", id="b")]
    predicted = [annotated("ADR: pain", id="a"), annotated("New: arm", "ADR: pain", id="b")]
    evaluation = evaluate(gold, predicted)
    assert evaluation.documents == 2
    assert evaluation.overall == Counts(3, 2, 3, 2)
    assert evaluation.labels == {"ADR": Counts(2, 2, 2, 2), "Drug": Counts(gold=1), "New": Counts(predicted=1)}


def test_no_documents_and_no_entities() -> None:
    assert evaluate([], []).overall.is_empty
    empty = evaluate([annotated()], [annotated()])
    assert empty.documents == 1
    assert all(counts.is_empty and counts.f1 == 0.0 for counts in (empty.overall, empty.fragments, empty.relations))


def test_a_repeated_prediction_counts_once_with_its_highest_score() -> None:
    predicted = annotated().replace(
        entities=tuple(entity("ADR: pain", score=score) for score in (0.25, 0.75, None)),
    )
    evaluation = evaluate([annotated("ADR: pain")], [predicted])
    assert evaluation.overall == Counts(1, 1, 1, 1)
    assert [(bin.low, bin.total_score) for bin in evaluation.calibration.bins if bin.count] == [(0.7, 0.75)]


# Counts


def test_ratios() -> None:
    counts = Counts.of({1, 2, 3, 4}, {3, 4, 5})
    assert counts == Counts(gold=4, found=2, predicted=3, right=2)
    assert counts.precision == pytest.approx(2 / 3)
    assert counts.recall == pytest.approx(1 / 2)
    assert counts.f1 == pytest.approx(4 / 7)


def test_f1_is_the_harmonic_mean_where_found_and_right_differ() -> None:
    counts = Counts(gold=4, found=4, predicted=4, right=1)
    assert (counts.precision, counts.recall, counts.f1) == (0.25, 1.0, pytest.approx(0.4))


@pytest.mark.parametrize("counts", [Counts(), Counts(gold=3), Counts(predicted=3), Counts(gold=2, predicted=2)])
def test_ratios_of_nothing_are_zero(counts: Counts) -> None:
    assert (counts.precision, counts.recall, counts.f1) == (0.0, 0.0, 0.0)
    assert counts.is_empty == (counts == Counts())
