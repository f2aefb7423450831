"""Registries: disconer's own and what other packages add."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from disconer.core import plugins
from disconer.core.errors import DisconerError
from disconer.core.plugins import Registry

ADDED = [
    EntryPoint("root", "math:sqrt", "group"),
    EntryPoint("own", "math:cos", "group"),
    EntryPoint("broken", "no_such_module:thing", "group"),
    EntryPoint("type", "fractions:Fraction", "group"),
]


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry[Any]:
    monkeypatch.setattr(plugins, "entry_points", lambda group: ADDED if group == "group" else [])
    return Registry("group", {"own": "math:floor"}, what="function")


def test_other_packages_add_to_a_registry(registry: Registry[Any]) -> None:
    assert registry.names() == ("own", "broken", "root", "type")
    assert registry.get("root")(9) == 3
    assert "root" in registry
    assert "cube" not in registry


def test_names_of_disconers_own_are_not_taken(registry: Registry[Any]) -> None:
    assert registry.get("own")(1.5) == 1


def test_an_unknown_name_is_told_what_there_is(registry: Registry[Any]) -> None:
    with pytest.raises(DisconerError, match=r"no function 'rot'.*one of own, broken, root, type.*mean 'root'"):
        registry.get("rot")


def test_a_package_that_cannot_be_loaded_is_named(registry: Registry[Any]) -> None:
    with pytest.raises(DisconerError, match=r"function 'broken'.*ModuleNotFoundError"):
        registry.get("broken")


def test_a_package_that_names_a_class_is_told_so(registry: Registry[Any]) -> None:
    with pytest.raises(DisconerError, match=r"function 'type'.* is a class. Got fractions:Fraction"):
        registry.get("type")
