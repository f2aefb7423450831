from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from annotate.running import folder_of
from disconer.annotate.labels import COMMANDS, Label, project_labels
from disconer.core.errors import DisconerError

YAML = """
ADR: {colour: "#02835e", key: e, description: An unwanted effect.}
Drug: What was taken.
Dose:
"""


def test_labels_of_a_yaml_file(tmp_path: Path) -> None:
    folder_of(tmp_path, {"labels.yaml": YAML, "annotation.conf": "[entities]\nOther"})
    expected = [
        Label("ADR", "#02835e", "An unwanted effect.", "e"),
        Label("Drug", None, "What was taken.", "1"),
        Label("Dose", None, "", "2"),
    ]
    assert project_labels(None, tmp_path) == expected
    assert project_labels(str(tmp_path / "labels.yaml"), Path()) == expected


def test_labels_of_brat_and_of_the_command_line(tmp_path: Path) -> None:
    folder_of(tmp_path, {"annotation.conf": "[entities]\nADR\n\tMild\n[relations]\nCauses Arg1:ADR, Arg2:ADR\n"})
    assert [label.name for label in project_labels(None, tmp_path)] == ["ADR", "Mild"]
    assert [(label.name, label.key) for label in project_labels("Drug, ADR", tmp_path)] == [("Drug", "1"), ("ADR", "2")]
    assert project_labels(None, tmp_path / "nowhere") == []
    for empty in ("", "Drug,"):
        with pytest.raises(DisconerError, match="A label has no name"):
            project_labels(empty, tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("ADR: {color: 'red; } body {'}", "the colour"),
        ("ADR: {key: j}", "the key 'j'"),
        ("ADR: {key: e}\nDrug: {key: e}", "which 'ADR' has"),
        ("ADR: {size: 3}", "the field 'size'"),
        ("a: [", "not YAML"),
        ("", "no labels"),
    ],
)
def test_what_is_wrong_with_a_yaml_file_is_said(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(DisconerError, match=said):
        project_labels(None, folder_of(tmp_path, {"labels.yaml": content}))


def test_keys_of_the_page_are_not_for_labels() -> None:
    script = (files("disconer.annotate") / "page" / "keys.js").read_text("utf-8")
    table = script[script.index("const KEYS") : script.index("const COMMANDS")]
    keys = re.findall(r'[{,] "?([^\s":]+)"?: "[a-zA-Z]+"', table)
    assert len(keys) > 30
    assert {key for key in keys if len(key) == 1} <= COMMANDS
