"""Loading a configuration from a YAML file or preset, with overrides, and writing it as YAML.

Of YAML, aliases are refused (a few of them expand to gigabytes), and so are keys given twice (YAML would silently keep
the last one). 5e-5 is a number, as in YAML 1.2 and everywhere else; YAML 1.1, which PyYAML reads, reads it as text.
Dates are text: no setting is a date, and folders may be named after one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from disconer.config.knobs import ConfigError, Key, Problem, explain, knob_tree
from disconer.config.schema import Config
from disconer.config.section import HEADS, HeadSettings, kind_in
from disconer.core.errors import DisconerError, Where
from disconer.core.places import BUNDLED_ENCODERS, BUNDLED_MODELS, CONFIG, RUN_FOLDERS
from disconer.formats.source import decode

_KIND = "head.kind"


def apply_overrides(values: dict[str, Any], overrides: Sequence[str]) -> tuple[dict[Key, str], list[Problem]]:
    """Write `a.b=c` (c is YAML) into nested `values`, later ones over earlier ones.

    Returns the override of each key, and problems of the overrides themselves.
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


def _switch_head(values: dict[str, Any], overrides: Sequence[str]) -> None:
    """Drop the section `head` if an override chooses another kind, which has other keys."""
    chosen = [value.strip() for name, _, value in (one.partition("=") for one in overrides) if name.strip() == _KIND]
    if chosen and chosen[-1] in HEADS and chosen[-1] != kind_in(values):
        values["head"] = {}


def _put(values: dict[str, Any], key: tuple[str, ...], value: Any) -> Key | None:
    """Set `key`, creating the sections above it; returns a key that is not a section, if one is in the way."""
    section = values
    for depth, name in enumerate(key[:-1], start=1):
        if section.get(name) is None:  # missing or null: setting a part of it switches it on
            section[name] = {}
        section = section[name]
        if not isinstance(section, dict):
            return key[:depth]
    section[key[-1]] = value
    return None


def load_config(path_or_preset: str | Path, overrides: Sequence[str] = ()) -> Config:
    """The configuration in a YAML file, or the preset of that name, with `overrides` ("training.seed=7") over it.

    Relative paths in a file are relative to it; in a preset and in overrides, to the current directory.
    Raises `ConfigError` with all problems.
    """
    origin, text = _read(path_or_preset)
    parsed = parse_yaml(text)
    values = {} if parsed.values is None else parsed.values
    if not isinstance(values, dict):
        raise ConfigError([Problem((), "expected sections (data:, training:, …)", "line 1")], origin)
    if parsed.problems and not values:  # not YAML
        raise ConfigError(parsed.problems, origin)
    places = {key: f"line {line}" for key, line in parsed.lines.items()}
    if Path(path_or_preset).is_file():
        _place_paths(values, Path(path_or_preset).parent)
    _switch_head(values, overrides)
    overridden, problems = apply_overrides(values, overrides)
    return _checked(values, places | overridden, parsed.problems + problems, origin)


_DATA_PATHS = (("data", "train"), ("data", "dev"), ("data", "test"))
_NAMES_OR_PATHS = (("encoder", "name"), ("training", "start_from"))  # paths only if they are there


def _place_paths(values: dict[str, Any], folder: Path) -> None:
    """Make the relative paths of a file in `folder` relative to the current directory."""
    for section, key in (*_DATA_PATHS, *_NAMES_OR_PATHS):
        own = values.get(section)
        path = own.get(key) if isinstance(own, dict) else None
        if not isinstance(own, dict) or not isinstance(path, str) or not path or "://" in path:
            continue
        if (section, key) in _DATA_PATHS or is_path(folder / path):
            own[key] = str(folder / path)


def is_path(path: Path) -> bool:
    """Whether there is an encoder or a model at this path.

    If the path is also the name of a bundled one, its content decides: a data folder may be called "clinical-trials".
    """
    if not any((bundled / path.name).is_dir() for bundled in (BUNDLED_ENCODERS, BUNDLED_MODELS)):
        return path.exists()
    return path.is_file() or any((path / part / CONFIG).is_file() for part in (".", *RUN_FOLDERS))


def load_head(kind: str, overrides: Sequence[str] = ()) -> HeadSettings:
    """The settings of a kind of head, with `overrides` ("key=value") over its defaults."""
    values: dict[str, Any] = {"data": {"train": "-", "dev": "-"}, "head": {"kind": kind}}
    places, problems = apply_overrides(values, [f"head.{override}" for override in overrides])
    return _checked(values, places, problems, None).head


def config_from_dict(values: Mapping[str, Any], origin: str | None = None) -> Config:
    """The configuration from plain values (`Config.to_dict`); `origin` is named in errors."""
    return _checked(dict(values), {}, [], origin)


def dump_config(config: Config) -> str:
    """YAML that `load_config` reads."""
    return format_yaml(config.to_dict())


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested sections as dotted keys.

    >>> flat({"head": {"kind": "span"}})
    {'head.kind': 'span'}
    """
    return dict(_leaves(values, prefix))


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def preset_names() -> tuple[str, ...]:
    """The bundled presets."""
    names = (Path(preset.name) for preset in files("disconer.config.presets").iterdir())
    return tuple(sorted(name.stem for name in names if name.suffix == ".yaml"))


def preset_text(name: str) -> str:
    """The YAML of a preset, with comments."""
    presets = preset_names()
    if name in presets:
        return files("disconer.config.presets").joinpath(f"{name}.yaml").read_text("utf-8")
    close = difflib.get_close_matches(name, presets, 1)
    raise DisconerError(
        "There is no such configuration",
        where=Where(name),
        expected=f"a YAML file, or one of the presets {', '.join(presets)}",
        fix=f"Did you mean {close[0]!r}?" if close else "`disconer init` writes a configuration for your data.",
    )


def _read(path_or_preset: str | Path) -> tuple[str, str]:
    """The source of a configuration, for messages, and its text. A file goes before a preset of the same name."""
    path, name = Path(path_or_preset), str(path_or_preset)
    if path.is_file():
        return name, decode(path.read_bytes(), name)
    return f"preset {name}", preset_text(name)


def _checked(values: dict[str, Any], places: Mapping[Key, str], problems: list[Problem], origin: str | None) -> Config:
    found = list(problems)
    config = None
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        found += [
            problem._replace(place=_place(problem.key, places))
            for problem in explain(error, values, knob_tree(kind_in(values)))
        ]
    if config is None or found:
        raise ConfigError(found, origin)
    return config


def _place(key: Key, places: Mapping[Key, str]) -> str | None:
    """The line or override of a key, or of the innermost section around it."""
    return next((places[key[:size]] for size in range(len(key), 0, -1) if key[:size] in places), None)


MAX_CHARACTERS = 2**20  # no configuration is longer; a longer file was meant for another command

_ENDLESS = 2**31  # wide enough that no text is folded
_DATE = "tag:yaml.org,2002:timestamp"
_FLOAT = "tag:yaml.org,2002:float"
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+\Z")


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases (*name) are not allowed: write the values out", problem_mark=self.get_mark()
            )
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    pass


def _one_line_list(dumper: _Dumper, values: list[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)


def _one_line_text(dumper: _Dumper, text: str) -> yaml.Node:
    quotes = None if text.isprintable() else '"'  # only double quotes can escape all kinds of line breaks
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=quotes)


_Dumper.add_representer(list, _one_line_list)
_Dumper.add_representer(str, _one_line_text)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _DATE]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _side in (_Loader, _Dumper):
    _side.add_implicit_resolver(_FLOAT, _EXPONENT, list("-+0123456789"))


@dataclass(slots=True)
class Parsed:
    """A parsed YAML text: its values, the line of each key, and its problems."""

    values: Any = None
    lines: dict[Key, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def parse_yaml(text: str) -> Parsed:
    """The values of a YAML text; errors are listed in `problems`, never raised."""
    parsed = Parsed()
    if len(text) > MAX_CHARACTERS:
        parsed.problems.append(Problem((), f"this is too long for a configuration ({len(text)} characters)"))
        return parsed
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            parsed.values = _build(node, (), loader, parsed)
    except RecursionError:
        parsed.problems.append(Problem((), "this is nested too deeply for a configuration"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ": ".join(part for part in (error.context, error.problem) if part)
        parsed.problems.append(Problem((), f"this is not YAML: {what}", f"line {mark.line + 1}" if mark else None))
    except yaml.YAMLError as error:
        parsed.problems.append(Problem((), f"this is not YAML: {error}"))
    return parsed


def _build(node: yaml.Node, key: Key, loader: _Loader, parsed: Parsed) -> Any:
    parsed.lines.setdefault(key, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _build_mapping(node, key, loader, parsed)
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*key, number), loader, parsed) for number, item in enumerate(node.value)]
    try:
        return loader.construct_object(node)
    except ValueError:  # looks like a number but is not
        return node.value


def _build_mapping(node: yaml.MappingNode, key: Key, loader: _Loader, parsed: Parsed) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name_node, value_node in node.value:
        name, line = str(name_node.value), name_node.start_mark.line + 1
        if name in values:
            first = parsed.lines[*key, name]
            parsed.problems.append(Problem((*key, name), f"given twice, first on line {first}", f"line {line}"))
            continue
        parsed.lines[*key, name] = line
        values[name] = _build(value_node, (*key, name), loader, parsed)
    return values


def format_yaml(values: Any) -> str:
    """Plain values as YAML that `parse_yaml` reads, one line per setting."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_ENDLESS)
