"""The made-up complaints of `patient-posts`: what shares words, and what does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from disconer import Document, read

SCRIPT = Path(__file__).parents[2] / "recipes" / "patient-posts" / "complaints.py"


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    out = tmp_path_factory.mktemp("complaints") / "complaints.jsonl"
    subprocess.run([sys.executable, SCRIPT, out], check=True)
    return list(read(out))


def found(posts: list[Document], sentence: str) -> Iterator[str]:
    """The entities of a sentence, with their gaps."""
    post = next(post for post in posts if sentence in post.text)
    start = post.text.index(sentence)
    for entity in post.entities:
        if start <= entity.start < start + len(sentence):
            yield " … ".join(post.text[fragment.start : fragment.end] for fragment in entity.fragments)


@pytest.mark.parametrize(
    ("sentence", "entities"),
    [
        (
            "intense spasms and cramps around the wrists",
            ["intense spasms … around the wrists", "cramps around the wrists"],
        ),
        ("tightness in my fingers and hips", ["tightness in my fingers", "tightness in my … hips"]),
        ("constipation and ringing in my ears", ["constipation", "ringing in my ears"]),
        (
            "swelling, spasms and tightness in my hips",
            ["swelling … in my hips", "spasms … in my hips", "tightness in my hips"],
        ),
    ],
)
def test_what_shares_words(posts: list[Document], sentence: str, entities: list[str]) -> None:
    assert sorted(found(posts, sentence)) == sorted(entities)


def test_the_words_of_the_example_are_not_among_them(posts: list[Document]) -> None:
    text = " ".join(post.text for post in posts)
    assert len(posts) == 134
    assert "knee" not in text
    assert "stiff" not in text
