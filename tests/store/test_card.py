"""The card is what strangers read of a model: pinned word for word. `DISCONER_GOLDEN=1` writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

from disconer import Document, Entity
from disconer.config.load import parse_yaml
from disconer.evaluate import evaluate
from disconer.store.card import Figures, model_card
from nn.toy import toy_config

GOLDEN = Path(__file__).parent / "golden" / "card.md"
LABELS = ("ADR", "Drug")


def card(*, figures: Figures | None = None, labels: tuple[str, ...] = LABELS, **sections: object) -> str:
    return model_card(labels=labels, config=toy_config(**sections), version="1.2.3", figures=figures or {})


def figures() -> Figures:
    text = "Pain and stiffness in my knees after aspirin."
    right = [Entity("ADR", ((0, 4), (19, 30))), Entity("ADR", ((9, 30),)), Entity("Drug", ((37, 44),))]
    gold = Document("d", text, tuple(right))
    found = Document("d", text, (right[0], right[2], Entity("ADR", ((9, 18),))))
    return {"dev": evaluate([gold], [found]).to_dict(), "test": evaluate([gold], [gold]).to_dict()}


def test_the_model_that_it_started_from_is_named() -> None:
    made = card(training={"start_from": "/home/ann/runs/chia"})
    assert "on the encoder `biomedical-minilm`, starting from the model `runs/chia`, with the head" in made
    assert "  start_from: runs/chia\n" in made


def test_word_for_word() -> None:
    data = {"train": "/home/ann/corpora/cadec/train.jsonl", "dev": "cadec/dev.jsonl", "test": "cadec/test.jsonl"}
    made, settings = card(figures=figures(), data=data).split("```yaml\n")
    if os.environ.get("DISCONER_GOLDEN"):
        GOLDEN.write_text(made, "utf-8")
    assert made == GOLDEN.read_text("utf-8")
    config = toy_config(data=data).to_dict()
    assert {"data": config["data"], **parse_yaml(settings.removesuffix("```\n")).values} == config


def test_without_figures_it_says_how_to_get_them() -> None:
    assert "None recorded. `disconer evaluate GOLD --model FOLDER` computes them." in card()


def test_many_labels_are_listed_once() -> None:
    labels = tuple(f"Type_{number}" for number in range(30))
    made = card(labels=labels)
    assert "# disconer model: 30 labels\n" in made
    assert all(made.count(f"`{label}`") == 1 for label in labels)


def test_entities_within_words_are_among_the_limits_of_a_model_that_leaves_them_out() -> None:
    said = 'They never begin or end between two letters or digits: "75 mg/m" in "75 mg/m2" is not found.'
    whole = card(data={"train": "train.jsonl", "dev": "dev.jsonl", "whole_words": True})
    assert f"- Entities never cross sentences. {said} No fragment of them is wider" in whole
    assert said not in card()


def test_without_a_width_limit_none_is_claimed() -> None:
    assert "wider than" not in card(head={"max_width": None})


def test_the_encoder_is_named_as_on_the_hub_or_by_the_end_of_its_path() -> None:
    assert "encoder `dmis-lab/biobert-v1.1`" in card(encoder={"name": "dmis-lab/biobert-v1.1"})
    made = card(encoder={"name": "/home/ann/models/my-bert"})
    assert "encoder `models/my-bert`" in made
    assert "/home" not in made


def test_a_model_that_looks_at_syntax_names_its_parser_and_no_place_on_a_machine() -> None:
    assert "dependency trees" not in card()
    made = card(syntax={"parser": "spacy:/home/ann/models/my-parser", "gcn": {}})
    assert "It uses dependency trees: the parser `spacy:models/my-parser` must be installed" in made
    assert "/home" not in made
