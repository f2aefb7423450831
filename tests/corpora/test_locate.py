from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disconer.corpora.psytar import Place, locate


def texts(mention: str, sentence: str) -> list[str] | None:
    (place,) = locate([mention], sentence)
    return place and [sentence[start:end] for start, end in place.fragments]


@pytest.mark.parametrize(
    ("mention", "sentence", "found"),
    [
        ("dry mouth", "Bad DRY  mouth.", ["DRY  mouth"]),
        ("weight loss", "weightloss, dry-mouth", ["weightloss"]),
        ("dry mouth", "weightloss, dry-mouth", ["dry-mouth"]),
        ("don’t care", "I dont care", ["dont care"]),
        ("fatigue,", "fatigue, nausea", ["fatigue"]),  # no comma at its end
        ("tremor (hands)", "a tremor (hands).", ["tremor (hands)"]),  # but the bracket
        ('"zombie" like', 'felt "zombie" like', ['"zombie" like']),
        ("zombie like", 'felt "zombie" like', ['zombie" like']),
        ("short term dizziness", "Short term: dizziness", ["Short term: dizziness"]),  # punctuation is no gap
    ],
)
def test_in_one_stretch_whatever_the_case_spaces_and_punctuation(mention: str, sentence: str, found: list[str]) -> None:
    assert texts(mention, sentence) == found


@pytest.mark.parametrize(
    ("mention", "sentence", "found"),
    [
        ("no motivation", "no creativity or motivation", ["no", "motivation"]),
        ("tight jaw, went away", "tight jaw, nausea) but they went away", ["tight jaw", "went away"]),
        ("no sleep", "no appetite, no good sleep, little sleep", ["no", "sleep"]),
        ("leg pain", "leg and arm pain, pain", ["leg", "pain"]),
    ],
)
def test_in_parts(mention: str, sentence: str, found: list[str]) -> None:
    assert texts(mention, sentence) == found


def test_parts_are_those_of_the_shortest_stretch_with_the_fewest_gaps() -> None:
    sentence = "no appetite, no good sleep, little sleep"
    assert locate(["no sleep"], sentence) == [Place(((13, 15), (21, 26)))]  # type: ignore[arg-type]
    assert texts("a b c", "a x b b c") == ["a", "b c"]


@pytest.mark.parametrize(
    ("mention", "sentence", "found"),
    [
        ("headache", "Bad headaches", ["headaches"]),
        ("gained 5 lb", "gained 5 lbs", ["gained 5 lbs"]),
        ("anxiety", "depression,aniexty and pain", ["aniexty"]),
        ("loss of libido", "loss of sleep and labido", ["loss of", "labido"]),
    ],
)
def test_spelt_differently(mention: str, sentence: str, found: list[str]) -> None:
    assert texts(mention, sentence) == found
    (place,) = locate([mention], sentence)
    assert place is not None
    assert place.respelt


@pytest.mark.parametrize(
    ("mention", "sentence"),
    [
        ("depression worsened", "It worsened, as did my depression"),  # not in order
        ("loss of sex drive", "loss sex drive"),  # a word too many
        ("crying", "I was coming"),  # short words may differ by one edit
        ("increased sleep", "decreased sleep"),  # and never in the first letter
        ("sent through the roof", "sent through the roofracing thoughts"),
        ("ER", "never"),
        ("stomach ulcer", "stomacal a b c d e f g h i j k ulcer"),  # far apart and spelt differently
        ("...", "Well ..."),
        ("pain", ""),
    ],
)
def test_what_the_sentence_does_not_have(mention: str, sentence: str) -> None:
    assert texts(mention, sentence) is None


def test_a_mention_given_twice_gets_two_places_if_there_are_two() -> None:
    def first(place: Place | None) -> int | None:
        return place and place.fragments[0].start

    assert [*map(first, locate(["pain", "Pain", "pain"], "pain, and pain"))] == [0, 10, 0]


def test_a_short_mention_leaves_its_place_in_a_long_one() -> None:
    sentence = "social anxiety, and anxiety"
    places = locate(["anxiety", "social anxiety"], sentence)
    assert [place and place.fragments[0].start for place in places] == [20, 0]
    places = locate(["anxiety", "social anxiety"], "social anxiety")  # unless it has no other
    assert [place and place.fragments[0].start for place in places] == [7, 0]


@given(st.text(alphabet="ab cé,'(\u0130ß1", max_size=30), st.data())
def test_every_stretch_of_whole_words_is_found(sentence: str, data: st.DataObject) -> None:
    words = sentence.split(" ")
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    mention = " ".join(words[first : last + 1])
    (place,) = locate([mention], sentence)
    if any(letter.isalnum() for letter in mention):
        assert place is not None
        ((start, end),) = place.fragments
        assert [letter for letter in sentence[start:end].casefold() if letter.isalnum()] == [
            letter for letter in mention.casefold() if letter.isalnum()
        ]
