"""Values given on the command line: `--set training.seed=7` over what a file says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disconer.config.problems import Key, Problem
from disconer.config.yaml_text import parse_yaml


def apply_overrides(values: dict[str, Any], overrides: Sequence[str]) -> tuple[dict[Key, str], list[Problem]]:
    """Write `a.b=c` (c is YAML) into nested `values`, later ones over earlier ones.

    Returns which override each key comes from, and what is wrong with the overrides themselves.
    """
    places: dict[Key, str] = {}
    problems = []
    for override in overrides:
        place = f"override {override!r}"
        name, equals, value = override.partition("=")
        key = tuple(name.strip().split("."))
        parsed = parse_yaml(value)
        if not equals or not all(key):
            problems.append(Problem((), "expected section.key=value, such as training.seed=7", place))
        elif parsed.problems:
            problems += [Problem((*key, *problem.key), problem.what, place) for problem in parsed.problems]
        elif (blocked := _put(values, key, parsed.values)) is not None:
            problems.append(Problem(blocked, "a single value, which has no keys below it", place))
        else:
            places[key] = place
    return places, problems


def _put(values: dict[str, Any], key: tuple[str, ...], value: Any) -> Key | None:
    """Set `key`, making the sections on the way to it; returns the key that is in the way, if one is."""
    section = values
    for depth, name in enumerate(key[:-1], start=1):
        if section.get(name) is None:  # absent, or switched off: giving a part of it switches it on
            section[name] = {}
        section = section[name]
        if not isinstance(section, dict):
            return key[:depth]
    section[key[-1]] = value
    return None
