"""Packages that add something to a registry, as if they were installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from disconer.core import plugins
from disconer.core.plugins import Registry


def plug_in(monkeypatch: pytest.MonkeyPatch, registry: Registry[object], name: str, place: str) -> None:
    """Have a registry find an entry point, "module:attribute", for the time of a test."""
    point = EntryPoint(name, place, registry.group)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == registry.group else [])
    monkeypatch.setattr(registry, "_loaded", {})
    registry.__dict__.pop("_added", None)  # what was found before
    monkeypatch.setitem(registry.__dict__, "_added", registry.__class__._added.func(registry))
