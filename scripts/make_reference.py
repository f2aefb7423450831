"""Generate the reference pages of commands and configuration from the code.

    python scripts/make_reference.py

A test compares the pages with the output; run it when a command, an option or a setting changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from disconer.cli import app
from disconer.config import HEADS, preset_names
from disconer.config.knobs import Key, Knob, dotted, knob_tree
from disconer.nn.heads.kind import kind_of

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
_MADE = "<!-- Made by scripts/make_reference.py: edit the code's own help and descriptions instead. -->"

Row = tuple[str, ...]


def table(columns: Row, rows: list[Row]) -> str:
    """A Markdown table."""
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def commands_page() -> str:
    """Every command with its arguments and options."""
    root: Any = typer.main.get_command(app)
    verbs = "\n\n".join(_verb(name, command) for name, command in root.commands.items())
    return f"""# Commands

{_MADE}

`disconer COMMAND --help` prints the same. Results go to stdout; progress (only on a terminal) and counts of what was
skipped, normalised or lost go to stderr. `disconer --debug COMMAND …` shows the traceback of an error. See also [error
classes and exit codes](problems.md).

{verbs}
"""


def _verb(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    given = [_placeholder(argument) for argument in arguments]
    parts = [f"## {name}", f"`{' '.join(['disconer', name, *given, '[OPTIONS]'])}`", _paragraphs(command.help)]
    rows = [(f"`{_placeholder(argument)}`", _text(argument.help)) for argument in arguments]
    rows += [(f"`{_names(option)}`", _text(option.help) + _default(option)) for option in options]
    return "\n\n".join([*parts, table(("", ""), rows)])


def _placeholder(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()).strip("{}[]").removesuffix("...")
    many = "…" if argument.nargs == -1 else ""
    return f"{name}{many}" if argument.required else f"[{name}{many}]"


def _names(option: Any) -> str:
    return ", ".join([*option.opts, *option.secondary_opts])  # the second are those that switch it off


def _default(option: Any) -> str:
    shown = isinstance(option.default, str | int | float | Path) and not isinstance(option.default, bool)
    return f" Default: `{option.default}`." if shown and str(option.default) else ""


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(_text(part) for part in (text or "").split("\n\n"))


def _text(text: str | None) -> str:
    return " ".join((text or "").split())


def configuration_page() -> str:
    """Every setting with its values, its default and its description."""
    presets = ", ".join(f"`{name}`" for name in preset_names())
    sections = "\n\n".join(_heads() if section.name == "head" else _section(section) for section in knob_tree().parts)
    return f"""# Configuration

{_MADE}

A training run is configured by a YAML file, or by the name of a preset ({presets}). `disconer init DATA` writes a
file for your data, `disconer init --preset NAME` a preset to edit, both with a comment on every setting.
`disconer train CONFIG --set training.seed=7` overrides single values.

Unknown keys and invalid values are reported all at once, each with its line. Relative paths in a file are
relative to that file; in a preset and after `--set`, to the current directory. A section
that is `null` is switched off.

{sections}
"""


def _section(section: Knob) -> str:
    return f"## {section.name}\n\n{section.description}\n\n{_knobs(section)}"


def _heads() -> str:
    """The section `head`, one table for each kind that disconer has itself."""
    kinds = [(kind_of(HEADS.get(name).settings()), knob_tree(name).at(("head",))) for name in HEADS.built_in]
    tables = [f"### head.kind: {kind.name}\n\n{_sentence(kind.about)}\n\n{_knobs(knob)}" for kind, knob in kinds]
    more = "Which keys it has depends on `kind`; other packages may [add kinds](../how-to/heads.md)."
    return "\n\n".join([f"## head\n\n{kinds[0][1].description} {more}", *tables])


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _knobs(section: Knob) -> str:
    return table(("key", "takes", "default", ""), list(_rows(section)))


def _rows(section: Knob, prefix: Key = ()) -> Iterator[Row]:
    for knob in section.parts:
        key = (*prefix, knob.name)
        takes = "a section, or null" if knob.parts and "null" in knob.expected else "a section" if knob.parts else ""
        only = f" Only for `kind: {knob.only}`." if knob.only else ""
        yield (f"`{dotted(key)}`", takes or knob.expected, _value(knob), knob.description + only)
        yield from _rows(knob, key)


def _value(knob: Knob) -> str:
    if knob.required:
        return "must be given"
    return "" if knob.parts and knob.default is not None else f"`{json.dumps(knob.default)}`"


PAGES = {"commands.md": commands_page, "configuration.md": configuration_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), "utf-8")
