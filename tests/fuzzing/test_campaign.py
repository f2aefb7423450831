"""A short campaign passes, is repeated by its seed, and sees what it is there for."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from disconer import Document, Entity
from disconer.formats import conll
from fuzzing.campaign import Seeds, campaign, run_input
from fuzzing.checks import Finding, check_round_trip
from fuzzing.mutations import mutation_for

DOCUMENT = Document("d", "some pain in knees", (Entity("A", ((5, 9),), "T1"), Entity("B", ((0, 4), (13, 18)), "T2")))


def test_a_few_inputs_of_every_kind(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("pyarrow")
    (tmp_path / "work").mkdir()
    seeds = Seeds(tmp_path)
    formats = {run_input("suite", number, seeds, tmp_path / "work") for number in range(400)}
    assert formats == {format for _, format, _ in seeds.files}


def test_a_seed_gives_the_same_input_again(tmp_path: Path) -> None:
    content = b'{"id": "d", "text": "some pain", "entities": []}\n' * 3
    for name in ("a.jsonl", "a.txt"):
        first, second = (random.Random("7:1") for _ in range(2))
        assert mutation_for(name, first)(content, first) == mutation_for(name, second)(content, second)


@pytest.mark.parametrize("format", ["jsonl", "brat", "bioc-xml", "bio", "w2ner"])
def test_a_good_round_trip_is_no_finding(tmp_path: Path, format: str) -> None:
    check_round_trip([DOCUMENT], tmp_path, format)


def test_a_loss_without_a_count_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conll, "_note_losses", lambda *_: None)
    bare = DOCUMENT.replace(entities=tuple(Entity(one.label, one.fragments) for one in DOCUMENT.entities))
    with pytest.raises(Finding, match="without a count"):
        check_round_trip([bare], tmp_path, "bio")


def test_a_crash_is_reported_with_what_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("pyarrow")

    def crash(*_: object) -> None:
        raise KeyError("boom")

    monkeypatch.setattr("fuzzing.campaign.run_input", crash)
    assert campaign(0.002, "9", tmp_path) > 0
    said = capsys.readouterr().out
    assert "repeat with: bash scripts/fuzz --repeat 9:0" in said
    assert "seed 9" in said
