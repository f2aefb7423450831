"""From pydantic's errors to problems that say what was got, what was expected and which key was meant."""

from __future__ import annotations

import difflib
import json
from typing import Any

from pydantic import ValidationError

from disconer.config.knobs import Knob
from disconer.config.problems import Key, Problem, dotted

_SHOWN = 60  # characters of a wrong value that a message repeats


def explain(error: ValidationError, values: Any, root: Knob) -> list[Problem]:
    """One problem for each key at fault; `values` is what was validated."""
    problems: dict[Key, str] = {}
    for item in error.errors(include_url=False):
        kind = item["type"]
        key = tuple(map(str, item["loc"])) if kind == "missing" else _key_in(values, item["loc"])
        if key in problems:  # a union objects once for each of its members, a list once for each item
            continue
        if kind == "missing":
            problems[key] = f"missing. {root.at(key).description}"
        elif kind == "extra_forbidden":
            problems[key] = f"unknown key; {_meant(key, root)}"
        elif kind == "value_error":
            problems[key] = str(item["ctx"]["error"])
        else:
            problems[key] = f"got {_shown(_value_at(values, key))}, expected {root.at(key).expected}"
    return [Problem(key, what) for key, what in problems.items()]


def _key_in(values: Any, location: Key) -> Key:
    """The part of pydantic's location that names keys; the rest names members of unions and items of lists."""
    key: list[str] = []
    for name in location:
        if not isinstance(values, dict) or name not in values:
            break
        values = values[name]
        key.append(str(name))
    return tuple(key)


def _value_at(values: Any, key: Key) -> Any:
    for name in key:
        values = values[name]
    return values


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _meant(key: Key, root: Knob) -> str:
    """A guess at the key that somebody wanted to write, or the keys that there are."""
    *above, name = map(str, key)
    siblings = [part.name for part in root.at(tuple(above)).parts]
    if close := difflib.get_close_matches(name, siblings, 1):
        return f"did you mean {close[0]!r}?"
    everywhere = {str(other[-1]): dotted(other) for other in reversed(list(root.keys()))}
    if close := difflib.get_close_matches(name, everywhere, 1, cutoff=0.7):
        return f"did you mean {everywhere[close[0]]!r}?"
    return f"the keys here are {', '.join(siblings)}"
