"""The parser that ships: it loads, is small, knows CRAFT's trees and has not forgotten everyday English."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from spacy.tokens import Doc

PACKAGE = Path(__file__).parents[2] / "parsers" / "en_disconer_biomedical"
GENERAL = Path(__file__).with_name("general.conllu")
MEGABYTE = 1_000_000


def test_it_stays_small() -> None:
    assert sum(path.stat().st_size for path in PACKAGE.rglob("*") if path.is_file()) < 15 * MEGABYTE


def test_it_is_a_parser_and_nothing_else(parser: Any) -> None:
    assert parser.pipe_names == ["tok2vec", "parser"]


def test_craft_development_articles(parser: Any, scores: ModuleType, data: Path) -> None:
    every_fourth = islice(scores.read_trees(parser.vocab, data / "craft" / "dev.jsonl.gz"), 0, None, 4)
    result = scores.score(parser, list(every_fourth))

    assert result.words > 10_000
    assert result.uas > 89
    assert result.las > 87


def test_everyday_and_clinical_english(parser: Any, scores: ModuleType) -> None:
    result = scores.score(parser, list(scores.read_trees(parser.vocab, GENERAL)))

    assert result.words == 760
    assert result.uas > 95
    assert result.las > 93


def test_a_sentence_stays_one_tree(parser: Any, scores: ModuleType) -> None:
    """A full stop within a given sentence does not part it."""
    words = ["The", "dose", "was", "5", "mg", ".", "i.v", ".", "and", "then", "stopped", "."]
    doc = parser(scores.unparsed(Doc(parser.vocab, words=words)))

    assert sum(token.head.i == token.i for token in doc) == 1
