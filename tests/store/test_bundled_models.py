"""The models that come with disconer: there by name, small, described, and of use."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copytree
from textwrap import wrap

import pytest

from disconer import Kind, Recognizer
from disconer.core.places import BUNDLED_MODELS
from disconer.demo import SENTENCE
from disconer.render.marks import Mark
from disconer.store.description import read_description, write_description
from disconer.store.names import CARD, DEFAULT, RELEASE, description_of, find_model, known_models, named_models
from disconer.store.release import read_about

RECIPES = Path(__file__).parents[2] / "recipes"
NOTES = RECIPES.parent / "tests" / "text" / "notes"
NAMES = sorted(path.parent.name for path in RECIPES.glob("*/about.yaml"))
MOST_BYTES = 25_000_000  # what people accept to carry around
SPLITS = {"dev", "test"}

pytestmark = pytest.mark.skipif(
    not BUNDLED_MODELS.is_dir(), reason="models are not in this checkout: see recipes/README.md"
)
each = pytest.mark.parametrize("name", NAMES)


def test_the_default_comes_first() -> None:
    assert next(iter(named_models())) == DEFAULT
    assert sorted(path.name for path in BUNDLED_MODELS.iterdir()) == NAMES


@each
def test_it_is_small(name: str) -> None:
    assert sum(path.stat().st_size for path in (BUNDLED_MODELS / name).iterdir()) <= MOST_BYTES


@each
def test_it_is_described(name: str) -> None:
    (listed,) = (model for model in known_models() if model.name == name)
    about = read_about(RECIPES / name / "about.yaml")
    assert (listed.title, listed.data, listed.licence) == (about.title, about.corpus, about.licence)
    assert set(listed.labels) == about.labels.keys()
    assert listed.f1.keys() == listed.discontinuous_f1.keys() == SPLITS
    assert description_of(name)[RELEASE]["seeds"]


@each
@pytest.mark.parametrize("file", ["README.md", "config.json"])
def test_nothing_about_the_machine_that_made_it(name: str, file: str) -> None:
    text = (find_model(name) / file).read_text("utf-8")
    assert not [place for place in ("/home/", "/root/", "/tmp/", "/mnt/", "/work/") if place in text]


@each
def test_its_card_is_what_its_description_says(name: str, tmp_path: Path) -> None:
    model = copytree(BUNDLED_MODELS / name, tmp_path / name)
    write_description(model, read_description(model))
    assert (model / CARD).read_text("utf-8") == (BUNDLED_MODELS / name / CARD).read_text("utf-8")


@each
def test_it_finds_something_in_its_own_example(name: str) -> None:
    example = read_about(RECIPES / name / "about.yaml").example
    entities = Recognizer.from_pretrained(name, device="cpu")(example).entities
    assert len(entities) > 1
    assert all(entity.score is not None for entity in entities)


def test_what_the_readme_shows_is_what_it_finds() -> None:
    readme = (RECIPES.parent / "README.md").read_text("utf-8")
    shown = re.findall(r"^(\w+)  +(regular|overlapped|discontinuous)  +(.+?)  +([\d–, ]+?)  +[01]\.\d\d$", readme, re.M)
    found = Recognizer.from_pretrained(DEFAULT, device="cpu")(SENTENCE).entities
    assert shown == [
        (one.label, one.kind, Mark(one).quoted, ", ".join(f"{start}–{end}" for start, end in one.fragments))
        for one in found
    ]


def test_the_default_finds_both_members_of_a_coordination() -> None:
    found = Recognizer.from_pretrained(DEFAULT, device="cpu")("History of severe renal or hepatic impairment.").entities
    conditions = {entity.text: entity.kind for entity in found if entity.label == "Condition"}
    assert conditions["renal impairment"] is Kind.DISCONTINUOUS
    assert "hepatic impairment" in conditions


def test_the_default_keeps_persons_in_neighbouring_sentences_apart() -> None:
    text = "Mother had cardiac and renal insufficiency. Father had hepatic and adrenal insufficiency."
    entities = Recognizer.from_pretrained(DEFAULT, device="cpu")(text).entities
    assert len(entities) > 3
    assert not [entity.text for entity in entities if entity.start < text.index("Father") < entity.end]


@each
def test_wrapped_prose_is_read_as_prose_on_one_line(name: str) -> None:
    """A note in sentences has the same entities at the same offsets, and none of them crosses the end of a sentence."""
    marked = (NOTES / "paragraph-on-one-line.txt").read_text("utf-8").strip()
    text = marked.replace("|", "")
    recognizer = Recognizer.from_pretrained(name, device="cpu")
    found = recognizer(text).entities
    wrapped = recognizer("\n".join(wrap(text, 78))).entities
    assert [entity.key for entity in wrapped] == [entity.key for entity in found]
    starts = [len("".join(marked.split("|")[:number])) for number in range(2, marked.count("|") + 1)]
    assert len(starts) == 6
    assert not [entity for entity in found for start in starts if entity.start < start < entity.end]


NOTE = "ALLERGIES{}Penicillin: rash{}Severe cardiac, hepatic or renal insufficiency{}Aspirin: hives"


@each
@pytest.mark.parametrize("divider", ["-" * 80, "=" * 72, "===", "* * * *", "_" * 40])
def test_dividers_change_nothing(name: str, divider: str) -> None:
    ner = Recognizer.from_pretrained(name, device="cpu")
    plain, divided = (ner(NOTE.format(*[between] * 3)) for between in ("\n\n", f"\n\n{divider}\n\n"))
    assert [(entity.label, entity.text) for entity in divided.entities] == [
        (entity.label, entity.text) for entity in plain.entities
    ]
    assert [entity.score for entity in divided.entities] == pytest.approx([e.score for e in plain.entities], abs=1e-4)


@each
def test_accents_and_soft_hyphens_are_parts_of_words(name: str) -> None:
    ner = Recognizer.from_pretrained(name, device="cpu")
    text = "Hyper\u00adten\u00adsion, me\u0301tformine 500 mg, nause\u0301a, the inter\u00adleukin-2 gene"
    plain = ner("Hypertension, m\u00e9tformine 500 mg, naus\u00e9a, the interleukin-2 gene")
    bare = {ord(mark): None for mark in "\u00ad\u0301"}
    found = [(entity.label, entity.text.translate(bare)) for entity in ner(text).entities]
    assert found == [(entity.label, entity.text.replace("\u00e9", "e")) for entity in plain.entities]
    assert found


@each
def test_nothing_invisible_is_found(name: str) -> None:
    ner = Recognizer.from_pretrained(name, device="cpu")
    for text in ("\0 \u00ad \u200b rash", "rash \u0301 \ufeff\u200b nausea", "\u00ad: \u200d, \0."):
        assert all(any(map(str.isalnum, entity.text)) for entity in ner(text).entities)
