"""The scripts of parsers/biomedical, imported from where they lie; and the parser that they make."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = REPOSITORY / "parsers" / "biomedical"
PARSER = "en_disconer_biomedical"


@pytest.fixture(autouse=True)
def _scripts_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy")
    monkeypatch.syspath_prepend(SCRIPTS)


@pytest.fixture
def convert() -> ModuleType:
    return importlib.import_module("convert")


@pytest.fixture
def scores() -> ModuleType:
    return importlib.import_module("scores")


@pytest.fixture
def heads() -> ModuleType:
    return importlib.import_module("heads")


@pytest.fixture
def attach() -> ModuleType:
    return importlib.import_module("attach")


@pytest.fixture
def parser(scores: ModuleType) -> Any:
    """The parser that ships; tests of it are skipped where it is not installed."""
    if importlib.util.find_spec(PARSER) is None:
        pytest.skip(f"{PARSER} is not installed: pip install --no-deps ./parsers/{PARSER}")
    return scores.load_parser(PARSER)
