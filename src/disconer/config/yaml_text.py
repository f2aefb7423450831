"""Reading and writing YAML: plain values with the line of each.

Aliases are refused (a few of them expand to gigabytes), and so are keys given twice (YAML would silently keep the
last one). 5e-5 is a number, as in YAML 1.2 and everywhere else; YAML 1.1, which PyYAML reads, reads it as text.
Dates are text: no setting is a date, and folders may be named after one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from disconer.config.problems import Key, Problem

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
