"""A configuration as commented YAML: every setting, its value and description.

`python -m disconer.config.template FILE…` rewrites the comments of configuration files and keeps their headers: run it
on the presets when the schema changes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

from disconer.config.knobs import Knob, knob_tree
from disconer.config.load import format_yaml, load_config
from disconer.config.schema import Config

_COLUMN = 32  # column of comments, if the setting is short enough
_INDENT = "  "


def template(config: Config, header: str) -> str:
    """A whole file: the header as comment lines, an empty line, the commented configuration."""
    lines = (f"# {line}".rstrip() for line in header.splitlines())
    return "\n".join([*lines, "", commented_yaml(config)])


def header_of(text: str) -> str:
    """The header of a file written by `template`."""
    lines = text.partition("\n\n")[0].splitlines()
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def commented_yaml(config: Config) -> str:
    """YAML that `load_config` reads, with a comment per setting; disabled sections are commented out."""
    values = config.to_dict()
    sections = ("\n".join(_section(knob, values[knob.name])) for knob in knob_tree(config.head.kind).parts)
    return "\n\n".join(sections) + "\n"


def _section(section: Knob, values: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {section.description}"
    yield f"{section.name}:"
    yield from _settings(section, values, _INDENT)


def _settings(section: Knob, values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for knob in section.parts_of(values.get("kind")):
        value = values[knob.name]
        if not knob.parts:
            yield _line(knob, indent + format_yaml({knob.name: value}).rstrip("\n"))
        elif value is not None:
            yield _line(knob, f"{indent}{knob.name}:")
            yield from _settings(knob, value, indent + _INDENT)
        else:
            yield _line(knob, f"{indent}{knob.name}: null")
            yield f"{indent}# {knob.name}:"
            defaults = {part.name: part.default for part in knob.parts}
            yield from _settings(knob, defaults, f"{indent}# {_INDENT}")


def _line(knob: Knob, setting: str) -> str:
    return f"{setting:<{_COLUMN}}  # {knob.description}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        with chdir(path.parent):  # so that paths stay as they are written
            text = template(load_config(path.name), header_of(Path(path.name).read_text("utf-8")))
        path.write_text(text, "utf-8")
