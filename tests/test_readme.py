"""README and documentation tell the truth: commands exist, and outputs are what is printed."""

from __future__ import annotations

import ast
import pkgutil
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from disconer import read
from disconer.cli import app
from disconer.core.errors import DisconerError
from disconer.demo import SENTENCE
from disconer.formats import FORMATS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CHEAP = ("convert", "stats", "check", "init")  # verbs whose pasted outputs are compared with a run
ROOT_COMMAND: Any = typer.main.get_command(app)
ELIDED = "…"  # a line that stands for any number of lines

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_RUN = re.compile(r"^\$ (disconer .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

Command = list[str]
page_by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, *languages: str) -> Iterator[str]:
    return (body for language, body in _FENCE.findall(page.read_text("utf-8")) if language in languages)


def commands(page: Path) -> Iterator[Command]:
    """Every disconer command of a page's blocks, without what a shell does with its output."""
    for block in blocks(page, "", "bash", "console"):
        prompt = "$ " if "$ " in block else ""  # with prompts, the other lines are output
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith(f"{prompt}disconer "):
                yield shlex.split(line.removeprefix(prompt).partition(" > ")[0], comments=True)[1:]


@page_by_page
def test_commands_exist(page: Path) -> None:
    for command in commands(page):
        if command[0].isupper() or command[0].startswith("-"):  # VERB, or an option of disconer itself
            continue
        options = {name for parameter in ROOT_COMMAND.commands[command[0]].params for name in parameter.opts}
        given = {word.partition("=")[0] for word in command[1:] if re.match(r"--?[a-z]", word)}
        assert given <= options | {"--help"}, command


# Pasted outputs


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a checkout, with the brat folders that the pages speak of."""
    for name in ("src", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("No pain after aspirin. Severe rash, thoug")
    (notes / "a.ann").write_text("T1\tADR 12 99\taspirin\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output_of(command: Command) -> str:
    result = CliRunner().invoke(app, command, catch_exceptions=True)
    if isinstance(result.exception, DisconerError):
        return f"error: {result.exception}\n"
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output


def expected(pasted: str) -> re.Pattern[str]:
    parts = [
        r"(?:.*\n)*" if line.strip() == ELIDED else re.escape(line.rstrip()) + r" *\n" for line in pasted.splitlines()
    ]
    return re.compile("".join(parts))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "$ disconer" in page.read_text("utf-8")], ids=lambda page: page.name
)
def test_pasted_outputs_are_true(page: Path, checkout: Path) -> None:
    for block in blocks(page, ""):
        for command, pasted in _RUN.findall(block):
            words = shlex.split(command)[1:]
            if words[0] in CHEAP:
                assert expected(pasted).fullmatch(output_of(words)), command


def test_shown_entities_stand_where_they_are_said_to(checkout: Path) -> None:
    """The README's prediction cannot be made again here, but its offsets can be checked."""
    readme = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(
        r"^(\w+)  +(regular|overlapped|discontinuous)  +(.+?)  +([\d–, ]+?)  +(0\.\d\d|1\.00)$", readme, re.M
    )
    assert {kind for _, kind, *_ in rows} == {"regular", "overlapped", "discontinuous"}
    for _, kind, text, places, _ in rows:
        fragments = [tuple(map(int, place.split("–"))) for place in places.split(", ")]
        assert " … ".join(SENTENCE[start:end] for start, end in fragments) == text
        assert (len(fragments) > 1) == (kind == "discontinuous")


def test_the_sentence_is_new_to_the_demo_model() -> None:
    data = ROOT / "src" / "disconer" / "demo"
    assert all(SENTENCE not in document.text for document in read(data))
    assert SENTENCE in (ROOT / "scripts" / "demo").read_text("utf-8")
    assert SENTENCE in (ROOT / "README.md").read_text("utf-8")


# The reference


def test_every_format_is_described() -> None:
    page = (ROOT / "docs" / "reference" / "formats.md").read_text("utf-8")
    assert [name for name in FORMATS.names() if f"| `{name}` |" not in page] == []


def test_pages_made_from_the_code_are_up_to_date() -> None:
    maker = runpy.run_path(str(ROOT / "scripts" / "make_reference.py"))
    for name, page in maker["PAGES"].items():
        assert (maker["REFERENCE"] / name).read_text("utf-8") == page(), "run python scripts/make_reference.py"


@page_by_page
def test_python_compiles_and_its_names_exist(page: Path) -> None:
    for block in blocks(page, "python"):
        if ">>>" in block:
            continue  # a doctest, below
        for statement in ast.parse(block, str(page)).body:
            # word_head is the package that how-to/heads.md shows itself
            if isinstance(statement, ast.Import | ast.ImportFrom) and "word_head" not in ast.unparse(statement):
                exec(ast.unparse(statement), {})


def test_python_reference_examples() -> None:
    import doctest

    page = ROOT / "docs" / "reference" / "python.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried
    assert not failed


def test_python_reference_names_exist() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    names = re.findall(r"`(disconer(?:\.\w+)+)", page)
    assert names
    for name in names:
        pkgutil.resolve_name(name)
