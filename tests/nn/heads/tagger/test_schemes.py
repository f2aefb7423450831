from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer import Document, Ledger
from disconer.corpora import recipe_named
from disconer.evaluate.measures import Counts
from disconer.nn.heads.tagger.parts import Key
from disconer.nn.heads.tagger.schemes import BIO, BIOHD, BIOHD1234, SCHEMES, Scheme
from disconer.text.alignment import Range, align, to_fragments
from nn.heads.sentences import LABELS, N_WORDS, X, Y, sentences

each_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=list(SCHEMES))


def tag_sequences(scheme: Scheme) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(scheme.tags(LABELS)), max_size=N_WORDS)


# Any sentence, any tags


@each_scheme
@given(gold=sentences())
def test_tags_stand_for_exactly_what_is_not_lost(scheme: Scheme, gold: list[Key]) -> None:
    tags, lost = scheme.encode(gold, N_WORDS)
    assert len(tags) == N_WORDS
    found = scheme.decode(tags)
    assert len(found) == len(set(found))
    assert set(found) == set(gold) - set(lost)
    assert set(lost) <= set(gold)


@each_scheme
@given(gold=sentences())
def test_gold_tags_are_in_the_inventory_and_allowed(scheme: Scheme, gold: list[Key]) -> None:
    tags = scheme.tags(LABELS)
    may = scheme.transitions(tags)
    numbers = [tags.index(tag) for tag in scheme.encode(gold, N_WORDS).tags]
    assert may.start[numbers[0]]
    assert may.end[numbers[-1]]
    assert may.between[numbers[:-1], numbers[1:]].all()


@each_scheme
@given(data=st.data())
def test_any_tags_stand_for_entities_in_the_sentence(scheme: Scheme, data: st.DataObject) -> None:
    tags = data.draw(tag_sequences(scheme))
    for label, ranges in scheme.decode(tags):
        words = [word for first, end in ranges for word in range(first, end)]
        assert words == sorted(set(words))
        assert all(end < first for (_, end), (first, _) in pairwise(ranges))
        assert all(tags[word].endswith(f"-{label}") for word in words)


@each_scheme
@given(gold=sentences())
def test_entities_that_share_nothing_are_never_lost(scheme: Scheme, gold: list[Key]) -> None:
    words = [{word for first, end in ranges for word in range(first, end)} for _, ranges in gold]
    regular = [
        key
        for number, key in enumerate(gold)
        if len(key[1]) == 1 and all(words[number].isdisjoint(other) for other in words[:number] + words[number + 1 :])
    ]
    assert set(scheme.encode(gold, N_WORDS).lost).isdisjoint(regular)


# By hand: entities of one label, given as their words, and the tags of BIOHD and BIOHD1234; None where one is lost

WRITTEN: list[tuple[str, list[str], str | None, str | None]] = [
    ("he took aspirin", ["aspirin"], "O O B", "O O B"),
    ("aspirin ibuprofen", ["aspirin", "ibuprofen"], "B B", "B B"),
    (
        "pain and stiffness in my knees",
        ["pain in my knees", "stiffness in my knees"],
        "DB O DB HB HI HI",
        "D3B O D3B HB HI HI",
    ),
    (
        "severe pain in my knees and hands",
        ["severe pain in my knees", "severe pain in my hands"],
        "HB HI HI HI DB O DB",
        "HB HI HI HI D1B O D1B",
    ),
    ("left atrium is mildly dilated", ["left atrium dilated"], "DB DI O O DB", "D4B D4I O O D2B"),
    (  # crossing
        "renal cell carcinoma",
        ["renal cell", "cell carcinoma"],
        "DB HB DB",
        "D3B HB D1B",
    ),
    (  # two coordinations in a sentence: BIOHD would read every H with every D
        "pain and ache in knees but cuts and burns of hands",
        ["pain in knees", "ache in knees", "cuts of hands", "burns of hands"],
        None,
        "D3B O D3B HB HI O D3B O D3B HB HI",
    ),
    (  # two discontinuous entities that share nothing
        "atrium is dilated and valve is thickened",
        ["atrium dilated", "valve thickened"],
        None,
        "D4B O D2B O D4B O D2B",
    ),
    ("pain in both of my knees today", ["pain both knees"], "DB O DB O O DB O", None),  # three fragments
    (
        "pain and stiffness in knees and hands",  # 2×2
        ["pain in knees", "pain hands", "stiffness in knees", "stiffness hands"],
        None,
        None,
    ),
    ("breast cancer patients", ["breast cancer patients", "breast cancer"], None, None),  # nested
]


def ranges_of(words: str, sentence: str) -> tuple[Range, ...]:
    positions = [sentence.split().index(word) for word in words.split()]
    starts = [p for p in positions if p - 1 not in positions]
    ends = [p + 1 for p in positions if p + 1 not in positions]
    return tuple(zip(starts, ends, strict=True))


@pytest.mark.parametrize(("sentence", "gold", "biohd", "biohd1234"), WRITTEN, ids=[row[0] for row in WRITTEN])
def test_by_hand(sentence: str, gold: list[str], biohd: str | None, biohd1234: str | None) -> None:
    keys = [(X, ranges_of(words, sentence)) for words in gold]
    for scheme, wanted in ((BIOHD, biohd), (BIOHD1234, biohd1234)):
        tags, lost = scheme.encode(keys, len(sentence.split()))
        assert bool(lost) == (wanted is None)
        if wanted is not None:
            assert " ".join(tags).replace(f"-{X}", "") == wanted
            assert set(scheme.decode(tags)) == set(keys)


@pytest.mark.parametrize(
    ("gold", "lost"),
    [
        ([(X, ((0, 3),)), (X, ((1, 2),))], [(X, ((1, 2),))]),  # nested: the outermost stays
        ([(X, ((0, 2),)), (Y, ((1, 4),))], [(X, ((0, 2),))]),  # crossing: the longest stays
        ([(X, ((0, 1), (2, 3))), (Y, ((4, 5),))], [(X, ((0, 1), (2, 3)))]),  # discontinuous
    ],
)
def test_bio_loses(gold: list[Key], lost: list[Key]) -> None:
    assert list(BIO.encode(gold, 5).lost) == lost


@pytest.mark.parametrize("scheme", [BIOHD, BIOHD1234])
@pytest.mark.parametrize(
    ("gold", "lost"),
    [
        ([(X, ((0, 1), (2, 4))), (Y, ((2, 3),))], [(Y, ((2, 3),))]),  # two labels on a word
        ([(X, ((0, 1), (3, 4))), (Y, ((1, 2), (4, 5)))], []),  # two labels, no word shared
        ([(X, ((0, 1), (1, 2)))], [(X, ((0, 1), (1, 2)))]),  # no word in between
        ([(X, ((0, 1),)), (X, ((0, 1),))], []),  # one and the same
    ],
)
def test_biohd_and_biohd1234_lose(scheme: Scheme, gold: list[Key], lost: list[Key]) -> None:
    assert list(scheme.encode(gold, 5).lost) == lost


def test_of_a_two_by_two_coordination_half_is_kept() -> None:
    gold = [(X, pair) for pair in product([(0, 1), (2, 3)], [(4, 5), (6, 7)])]
    assert [len(scheme.encode(gold, 7).lost) for scheme in (BIO, BIOHD, BIOHD1234)] == [4, 2, 2]


@pytest.mark.parametrize(
    ("scheme", "tags", "found"),
    [
        (BIO, "I-X I-X B-X I-Y", [(X, ((0, 2),)), (X, ((2, 3),)), (Y, ((3, 4),))]),  # I- from nothing
        (BIOHD, "HB-X O HB-X", [(X, ((0, 1),)), (X, ((2, 3),))]),  # heads alone
        (BIOHD, "DB-X O DB-Y", [(X, ((0, 1),)), (Y, ((2, 3),))]),  # parts of different labels never join
        (BIOHD1234, "D3B-X O D1B-X D2B-X D4B-X", []),  # no partner, or on the wrong side
        (BIOHD1234, "D3B-X O HB-Y", [(Y, ((2, 3),))]),  # nor one of another label
        (BIOHD1234, "D4B-X D4B-X D2B-X D2B-X", [(X, ((0, 1), (2, 3))), (X, ((1, 2), (3, 4)))]),  # each D2 once
        (BIOHD1234, "D3B-X HB-X HB-X D1B-X", [(X, ((0, 2),)), (X, ((2, 4),))]),  # the nearest
    ],
)
def test_decoding_by_hand(scheme: Scheme, tags: str, found: list[Key]) -> None:
    assert scheme.decode(tags.split()) == found


@pytest.mark.parametrize(("scheme", "n_tags"), [(BIO, 3), (BIOHD, 7), (BIOHD1234, 13)])
def test_number_of_tags(scheme: Scheme, n_tags: int) -> None:
    assert len(scheme.tags([X])) == n_tags
    assert len(scheme.tags(LABELS)) == 2 * n_tags - 1


@pytest.mark.parametrize("tag", ["NN", "B", "B-", "", "E-X", "HB-X"])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="is not a tag"):
        BIO.decode([tag])


@pytest.mark.parametrize("ranges", [(), ((2, 4),), ((1, 1),), ((-1, 1),)])
def test_an_entity_outside_the_sentence_is_refused(ranges: tuple[Range, ...]) -> None:
    with pytest.raises(ValueError, match="a sentence of 3 words"):
        BIO.encode([(X, ranges)], 3)


# Real corpora: what a perfect tagger reaches


def oracle(documents: Iterable[Document], scheme: Scheme) -> Counts:
    counts = Counts()
    for document in documents:
        found = set()
        for sentence, own in zip(document.sentences or (), align(document)[0], strict=True):
            tags = scheme.encode([(entity.label, entity.ranges) for entity in own], len(sentence.tokens)).tags
            found |= {(label, to_fragments(ranges, sentence)) for label, ranges in scheme.decode(tags)}
        counts += Counts.of({entity.key for entity in document.entities}, found)
    return counts


@pytest.mark.parametrize(
    ("name", "archive", "options", "f1"),
    [
        (
            "chia",
            "chia_without_scope.zip",
            {"sentences": "lines"},
            {"BIO": 0.9525, "BIOHD": 0.9723, "BIOHD1234": 0.9731},
        ),
        (
            "genia",
            "GENIAcorpus3.02.tgz",
            {"setting": "full", "types": "five"},
            {"BIO": 0.9372, "BIOHD": 0.9497, "BIOHD1234": 0.9504},
        ),
    ],
)
def test_oracle(data: Path, name: str, archive: str, options: dict[str, str], f1: dict[str, float]) -> None:
    documents = recipe_named(name).build(data / name / archive, options, Ledger())["dev"]
    found = {scheme.name: oracle(documents, scheme) for scheme in SCHEMES.values()}
    assert {counts.precision for counts in found.values()} == {1.0}
    assert {scheme: round(counts.f1, 4) for scheme, counts in found.items()} == f1
