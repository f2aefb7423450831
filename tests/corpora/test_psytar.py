from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.workbooks import Cells, write_workbook
from disconer import BadInput, DisconerError, Ledger
from disconer.core.corpus import Corpus
from disconer.core.types import Document, Kind
from disconer.corpora import recipe_named
from disconer.corpora.prepare import count
from disconer.corpora.psytar import LABELS, Place, locate
from disconer.corpora.recipe import SPLITS


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


HEADER = ("id", "drug_id", "sentence_index", "sentences")


def build(source: Path, ledger: Ledger | None = None) -> Corpus:
    return recipe_named("psytar").build(source, {}, ledger or Ledger())


def dataset(path: Path, sentences: list[Cells], **mentions: list[Cells]) -> Path:
    """A workbook with rows of `drug_id, sentence_index, sentences`, followed by mentions in the sheets of these."""
    sheets: dict[str, list[Cells]] = {"read_me": [["Tabs"]], "Sentence_Labeling": [[*HEADER, "ADR"]]}
    sheets["Sentence_Labeling"] += [[number, *row] for number, row in enumerate(sentences)]
    sheets["Sentence_Labeling"] += [[None, None, None, None, 12]]  # a sum, as in the real one
    for label in LABELS:
        sheets[f"{label}_Identified"] = [[*HEADER, f"{label}1", f"{label}2"]]
        sheets[f"{label}_Identified"] += [[number, *row] for number, row in enumerate(mentions.get(label, ()))]
    return write_workbook(path / "PsyTAR_dataset.xlsx", sheets)


def shown(document: Document) -> list[tuple[str, str, Kind | None]]:
    return [(entity.label, entity.text, entity.kind) for entity in document.entities]


def test_a_post_is_a_document_with_its_sentences_one_per_line(tmp_path: Path) -> None:
    text = "Pain in legs and feet\n\n."
    source = dataset(
        tmp_path,
        [["lexapro.1", 1, text], ["lexapro.1", 2, " Fear came back. "], ["lexapro.1", 3, "Fine"]],
        ADR=[["lexapro.1", 1, text, "pain in legs", " pain in feet"]],
        SSI=[["lexapro.1", 2, " Fear came back. ", "fear"]],
        DI=[["lexapro.1", 2, " Fear came back. ", "fear", " "]],
    )
    ledger = Ledger()
    (document,) = build(source, ledger)
    assert document.id == "lexapro.1"
    assert document.text == "Pain in legs and feet .\nFear came back.\nFine"
    assert [(s.start, s.end, len(s.tokens)) for s in document.sentences or ()] == [(0, 23, 6), (24, 39, 4), (40, 44, 1)]
    assert shown(document) == [
        ("ADR", "Pain in feet", Kind.DISCONTINUOUS),
        ("ADR", "Pain in legs", Kind.OVERLAPPED),
        ("SSI", "Fear", Kind.OVERLAPPED),
        ("DI", "Fear", Kind.OVERLAPPED),
    ]
    assert not ledger.losses
    assert not ledger.repairs


def test_what_is_lost_and_what_is_put_right_is_counted(tmp_path: Path) -> None:
    source = dataset(
        tmp_path,
        [["a.1", 1, "Bad headaches."], ["a.1", 2, None], ["a.2", 1, " "], ["a.3", 1, "Numb."]],
        ADR=[["a.1", 1, "Bad headaches.", "headache", "nausea"]],
        WD=[["a.3", 1, "Numb.", "numb", "numb"]],
    )
    ledger = Ledger()
    documents = list(build(source, ledger))
    assert {document.id: shown(document) for document in documents} == {
        "a.1": [("ADR", "headaches", Kind.REGULAR)],
        "a.3": [("WD", "Numb", Kind.REGULAR)],
    }
    assert ledger.repairs == {"mentions spelt differently in their sentence": 1}
    assert ledger.losses == {
        "mentions that are not found in their sentence": 1,
        "duplicate annotations of a mention": 1,
        "sentences without text": 2,
        "posts without text": 1,
    }


def test_of_two_sentences_with_one_index_the_text_tells(tmp_path: Path) -> None:
    source = dataset(
        tmp_path,
        [["a.1", 3, "My pain."], ["a.1", 3, "More pain."], ["a.1", 5, "NO PAIN."]],
        ADR=[["a.1", 3, "More pain.", "pain"], ["a.1", 5, "NO PAIN", "no pain"]],  # the index tells the other one
    )
    (document,) = build(source)
    assert [(entity.start, entity.text) for entity in document.entities] == [(14, "pain"), (20, "NO PAIN")]


def test_the_split_follows_from_the_posts_name(tmp_path: Path) -> None:
    # Their md5 values are 74, 86 and 96 mod 100.
    source = dataset(tmp_path, [[name, 1, "Fine."] for name in ("lexapro.1", "lexapro.2", "lexapro.3")])
    corpus = build(source)
    assert {document.id: split for split in SPLITS for document in corpus[split]} == {
        "lexapro.1": "train",
        "lexapro.2": "dev",
        "lexapro.3": "test",
    }


def test_the_workbook_may_be_in_a_folder_or_an_archive(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    source = dataset(tmp_path / "folder", [["a.1", 1, "Fine."]])
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.write(source, "data/PsyTAR_dataset.xlsx")
    assert list(build(source.parent)) == list(build(tmp_path / "packed.zip")) == list(build(source))


def test_what_is_not_psytar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match=r"There are 0 \.xlsx files.*PsyTAR_dataset\.xlsx"):
        build(tmp_path)
    path = write_workbook(tmp_path / "PsyTAR_dataset.xlsx", {"Sentence_Labeling": [HEADER, [1, "a.1", 1, "Fine."]]})
    with pytest.raises(DisconerError, match=r"no sheet 'ADR_Identified'\. Got Sentence_Labeling"):
        build(path)
    path = dataset(tmp_path, [["a.1", 1, "Fine."]], ADR=[["a.1", 2, "Pain.", "pain"]])
    with pytest.raises(BadInput, match=r"'a\.1': The sentence of row 2 in the sheet 'ADR_Identified' is not.*'2'"):
        build(path)
    ledger = Ledger(skip_bad=True)
    (document,) = build(path, ledger)
    assert not document.entities
    assert ledger.errors == {"missing-sentence": 1}


def test_the_real_corpus(data: Path) -> None:
    path = data / "psytar" / "PsyTAR_dataset.xlsx"
    if not path.is_file():
        pytest.skip(f"no {path}")
    ledger = Ledger()
    corpus = build(path, ledger)
    counts = [count(corpus[split]) for split in SPLITS]
    assert [split.documents for split in counts] == [712, 90, 84]
    assert [split.sentences for split in counts] == [4808, 631, 564]
    assert [split.entities for split in counts] == [5932, 767, 661]
    assert [split.discontinuous for split in counts] == [339, 47, 36]
    assert sum(split.crossing_sentences + split.cutting_tokens for split in counts) == 0
    labels = Counter(entity.label for document in corpus for entity in document.entities)
    assert labels == {"ADR": 4780, "SSI": 1212, "DI": 786, "WD": 582}
    assert ledger.repairs == {"mentions spelt differently in their sentence": 108}
    assert ledger.losses == {
        "mentions that are not found in their sentence": 53,
        "duplicate annotations of a mention": 2,
        "sentences without text": 6,
        "posts without text": 5,
    }
    assert sum(labels.values()) + 53 + 2 == 7415  # every string in the sheets
