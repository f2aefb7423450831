"""The schema as a tree of knobs, each described in words; all problems of a configuration, in one readable error."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from pydantic import ValidationError

from disconer.config.schema import ENCODERS, Config
from disconer.config.section import DEFAULT_HEAD, HEADS, Section, in_words, kind_in
from disconer.core.errors import DisconerError, Where
from disconer.core.plugins import Registry

Key = tuple[str | int, ...]  # the path of a value: ("training", "seed")


class Problem(NamedTuple):
    """A problem: its key, what is wrong, and where (a line, an override)."""

    key: Key
    what: str
    place: str | None = None

    def __str__(self) -> str:
        name = dotted(self.key)
        place = f" ({self.place})" if self.place else ""
        return f"{name}{place}: {self.what}" if name else f"{self.place}: {self.what}" if self.place else self.what


def dotted(key: Key) -> str:
    """The name of a key, as in overrides: training.seed."""
    return ".".join(map(str, key))


class ConfigError(DisconerError):
    """An invalid configuration, with all of its `problems`."""

    def __init__(self, problems: Sequence[Problem], origin: str | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__("This configuration is invalid", where=Where(origin))

    def _paragraph(self) -> str:
        count = f"{len(self.problems)} problems" if len(self.problems) > 1 else "a problem"
        place = f"{self.where}: " if str(self.where) else ""
        return f"{place}This configuration has {count}:" + "".join(f"\n  {problem}" for problem in self.problems)


Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Knob:
    """A key that can be set. A section is a knob with parts.

    expected: the allowed values, in words. required: it has no default.
    only: the `kind` of its section that it belongs to; None: all.
    """

    name: str
    description: str
    expected: str
    default: Any
    required: bool
    only: str | None
    parts: tuple[Knob, ...]

    def parts_of(self, kind: object) -> Iterator[Knob]:
        """The parts of a section of this kind."""
        return (part for part in self.parts if part.only in (None, kind))

    def part(self, name: str) -> Knob | None:
        return next((part for part in self.parts if part.name == name), None)

    def at(self, key: Key) -> Knob:
        """The knob at `key`, or the last existing one on its path."""
        knob = self
        for name in key:
            below = knob.part(str(name))
            if below is None:
                return knob
            knob = below
        return knob

    def keys(self, prefix: Key = ()) -> Iterator[Key]:
        """The paths of all knobs below this one."""
        for part in self.parts:
            key = (*prefix, part.name)
            yield key
            yield from part.keys(key)


@cache
def knob_tree(head: str = DEFAULT_HEAD) -> Knob:
    """The knob of the whole configuration, with a head of this kind."""
    root = _tree("", Config)
    known = {"head": lambda section: _head_knob(section, head), "encoder": _encoder_knob}
    return replace(root, parts=tuple(known[part.name](part) if part.name in known else part for part in root.parts))


def _tree(name: str, section: type[Section]) -> Knob:
    schema = section.model_json_schema()
    return _knob(name, schema, schema.get("$defs", {}), required=True)


def _head_knob(section: Knob, kind: str) -> Knob:
    """The section `head` of a kind: its own knobs, and `kind` itself, which accepts any kind."""
    own = _tree(section.name, HEADS.get(kind).settings)
    kinds = in_words(HEADS.names())
    choice = replace(own.at(("kind",)), description=f"How entities are found: {kinds}.", expected=kinds)
    parts = (choice if part.name == "kind" else part for part in own.parts)
    return replace(section, expected=own.expected, parts=tuple(parts))


def _encoder_knob(section: Knob) -> Knob:
    """The section `encoder`, whose kind may be one that another package adds."""
    kinds = in_words(ENCODERS.names())
    parts = (replace(part, expected=kinds) if part.name == "kind" else part for part in section.parts)
    return replace(section, parts=tuple(parts))


def _knob(name: str, schema: Json, definitions: Json, *, required: bool) -> Knob:
    section = _section(schema, definitions)
    needed = section.get("required", ())
    parts = tuple(
        _knob(key, part, definitions, required=key in needed) for key, part in section.get("properties", {}).items()
    )
    return Knob(
        name=name,
        description=schema.get("description") or section.get("description", ""),
        expected=_expected(schema, definitions),
        default=schema.get("default"),
        required=required,
        only=schema.get("only"),
        parts=parts,
    )


def _section(schema: Json, definitions: Json) -> Json:
    """The section that a schema is, refers to, or allows besides null; empty for a single value."""
    if "properties" in schema:
        return schema
    if "$ref" in schema:
        found: Json = definitions[schema["$ref"].rpartition("/")[2]]
        return found if "properties" in found else {}
    members = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    return next((found for member in members if (found := _section(member, definitions))), {})


_NOUNS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "a section",
}
_PLURALS = {"string": "texts", "integer": "whole numbers", "number": "numbers"}
_BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "up to {}",
    "exclusiveMaximum": "below {}",
    "minLength": "of {} or more characters",
}


def _expected(schema: Json, definitions: Json) -> str:
    """The values that a schema allows, in words.

    >>> _expected({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, {})
    'a whole number from 1, or null'
    """
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return ", or ".join(_expected(member, definitions) for member in schema[union])
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if section := _section(schema, definitions):
        return f"a section with keys such as {next(iter(section['properties']))}"
    if "$ref" in schema:
        return _expected(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items", {})
        least = f"{schema['minItems']} or more " if "minItems" in schema else ""
        most = f"at most {schema['maxItems']} " if "maxItems" in schema else ""
        return f"a list of {least}{most}{_PLURALS.get(items.get('type'), 'values')}{_bounds(items)}"
    return _NOUNS.get(str(kind), "a value") + _bounds(schema)


def _bounds(schema: Json) -> str:
    bounds = [words.format(schema[bound]) for bound, words in _BOUNDS.items() if bound in schema]
    return f" {' and '.join(bounds)}" if bounds else ""


_SHOWN = 60  # characters of a wrong value shown in a message


def explain(error: ValidationError, values: Any, root: Knob) -> list[Problem]:
    """One problem per invalid key; `values` is what was validated."""
    problems: dict[Key, str] = {}
    for item in error.errors(include_url=False):
        kind = item["type"]
        key = tuple(map(str, item["loc"])) if kind == "missing" else _key_in(values, item["loc"])
        if key in problems:  # a union reports one error per member, a list one per item
            continue
        if kind == "missing":
            problems[key] = f"missing. {root.at(key).description}"
        elif kind == "extra_forbidden":
            problems[key] = f"unknown key; {_meant(key, root, kind_in(values))}"
        elif kind == "value_error":
            problems[key] = str(item["ctx"]["error"])
        else:
            value = _value_at(values, key)
            problems[key] = f"got {_shown(value)}, expected {root.at(key).expected}{_kind_meant(key, value)}"
    return [Problem(key, what) for key, what in problems.items()]


def _key_in(values: Any, location: Key) -> Key:
    """The keys of pydantic's location, without members of unions and items of lists."""
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


_KINDS: Mapping[Key, Registry[Any]] = {("head", "kind"): HEADS, ("encoder", "kind"): ENCODERS}


def _kind_meant(key: Key, value: Any) -> str:
    """Of an unknown kind: the closest one there is, or that a package may be missing."""
    if key not in _KINDS or not isinstance(value, str):
        return ""
    close = difflib.get_close_matches(value, _KINDS[key].names(), 1)
    return f"; did you mean {close[0]!r}?" if close else ", or one that another package adds: is that installed?"


def _meant(key: Key, root: Knob, kind: str) -> str:
    """The closest existing key, or all keys of the section. kind: of the head."""
    *above, name = map(str, key)
    siblings = [part.name for part in root.at(tuple(above)).parts]
    if close := difflib.get_close_matches(name, siblings, 1):
        return f"did you mean {close[0]!r}?"
    if above == ["head"]:
        for other in HEADS.built_in:
            if knob_tree(other).at(("head",)).part(name):
                return f"a setting of head.kind {other}, but kind is {kind}"
    everywhere = {str(other[-1]): dotted(other) for other in reversed(list(root.keys()))}
    if close := difflib.get_close_matches(name, everywhere, 1, cutoff=0.7):
        return f"did you mean {everywhere[close[0]]!r}?"
    return f"the keys here are {', '.join(siblings)}"
