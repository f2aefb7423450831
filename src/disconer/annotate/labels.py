"""The labels of a project: names, with keys, colours and descriptions if a file defines them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from disconer.core.corpus import labels_named
from disconer.core.errors import DisconerError, Where, excerpt
from disconer.formats.brat.configuration import ANNOTATION_CONF, conf_labels

LABELS_FILE = "labels.yaml"
DIGITS = "1234567890"
COMMANDS = frozenset("jJkKaArRxgGhHtmcuUnpdlfq/?+=-")  # keys that the page uses itself
_COLOUR = re.compile(r"#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?|[a-z]+")
_FIELDS = {"colour", "color", "description", "key"}


@dataclass(frozen=True, slots=True)
class Label:
    """A label. colour: as CSS has it, or the page's own. key: a single character that gives this label."""

    name: str
    colour: str | None = None
    description: str = ""
    key: str | None = None


def project_labels(given: str | None, folder: Path) -> list[Label]:
    """The labels defined for a project, each with a key while there are digits left.

    given: the value of --labels: names separated by commas, or a file. Without it, they are read from `labels.yaml` or
        brat's `annotation.conf` in the folder.
    """
    return with_keys(list(_found(folder) if given is None else _given(given)))


def with_keys(labels: list[Label]) -> list[Label]:
    """The labels; those without a key get the digits that are left, in order."""
    taken = {label.key for label in labels}
    left = iter([digit for digit in DIGITS if digit not in taken])
    return [label if label.key else replace(label, key=next(left, None)) for label in labels]


def _given(given: str) -> Iterator[Label]:
    path = Path(given)
    if path.suffix.lower() in (".yaml", ".yml"):
        yield from labels_of_yaml(path)
    elif path.suffix.lower() == ".conf":
        yield from (Label(name) for name in conf_labels(_text(path)))
    else:
        yield from map(Label, dict.fromkeys(labels_named(given)))


def _found(folder: Path) -> Iterator[Label]:
    if (folder / LABELS_FILE).is_file():
        yield from labels_of_yaml(folder / LABELS_FILE)
    elif (folder / ANNOTATION_CONF).is_file():
        yield from (Label(name) for name in conf_labels(_text(folder / ANNOTATION_CONF)))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DisconerError("The labels cannot be read", where=Where(str(path)), got=str(error)) from error


def labels_of_yaml(path: Path) -> list[Label]:
    """The labels of a YAML file: names, each with a description, or with colour, key and description.

    ADR: An unwanted effect of a drug.
    Drug: {colour: "#02835e", key: d, description: What was taken.}
    """
    try:
        content = yaml.safe_load(_text(path))
    except yaml.YAMLError as error:
        raise DisconerError("This is not YAML", where=Where(str(path)), got=excerpt(error)) from error
    if isinstance(content, list):
        content = dict.fromkeys(content)
    if not isinstance(content, dict) or not content:
        raise DisconerError("There are no labels in this file", where=Where(str(path)), expected="ADR: a description")
    labels = [_label(str(name), value, path) for name, value in content.items()]
    _refuse_shared_keys(labels, path)
    return labels


def _label(name: str, value: Any, path: Path) -> Label:
    fields = value if isinstance(value, dict) else {"description": value or ""}
    if unknown := sorted(map(str, fields.keys() - _FIELDS)):
        raise _wrong(name, path, f"the field {unknown[0]!r}", "colour, key and description")
    colour, key = fields.get("colour", fields.get("color")), fields.get("key")
    if colour is not None and not _COLOUR.fullmatch(str(colour)):
        raise _wrong(name, path, f"the colour {excerpt(colour)}", "one such as '#02835e' or 'teal'")
    if key is not None and (len(str(key)) != 1 or str(key).isspace() or str(key) in COMMANDS):
        raise _wrong(name, path, f"the key {excerpt(key)}", f"a character other than {' '.join(sorted(COMMANDS))}")
    description = str(fields.get("description") or "")
    return Label(name, None if colour is None else str(colour), description, None if key is None else str(key))


def _wrong(name: str, path: Path, got: str, expected: str) -> DisconerError:
    return DisconerError(f"The label {name!r} cannot be read", where=Where(str(path)), got=got, expected=expected)


def _refuse_shared_keys(labels: list[Label], path: Path) -> None:
    keys: dict[str, str] = {}
    for label in labels:
        if label.key and keys.setdefault(label.key, label.name) != label.name:
            raise _wrong(label.name, path, f"the key {label.key!r}, which {keys[label.key]!r} has", "another one")
