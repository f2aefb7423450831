from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from disconer import BadInput, DisconerError, Document, Entity, Ledger, read
from disconer.cli import app
from disconer.core.corpus import Corpus, text_key
from disconer.core.errors import DisconerWarning
from disconer.core.version import __version__
from disconer.corpora import RECIPES, recipe_named
from disconer.corpora.prepare import RECORD, count, prepare, render
from disconer.corpora.recipe import SPLITS, Option, Recipe
from disconer.text import segment
from plugging import plug_in

TEXT = "pain in legs and feet\nno fever\n"


def entity(*pairs: tuple[int, int], label: str = "ADR") -> Entity:
    return Entity(label, pairs)  # type: ignore[arg-type]


ENTITIES = (
    entity((0, 12)),
    entity((0, 7), (17, 21)),
    entity((25, 30)),
    entity((17, 24)),  # over two lines
    entity((26, 28)),  # within a word
)
DOCUMENT = segment(Document("d1", TEXT, ENTITIES))


def _build(source: Path, options: Mapping[str, str], ledger: Ledger) -> Corpus:
    if source.name == "broken":
        raise BadInput("bad-syntax", "broken")
    ledger.repaired("fragments out of order", 2)
    ledger.lost("notes without an annotation file", 1)
    return Corpus({"train": (DOCUMENT,), "dev": (), "test": (DOCUMENT.replace(entities=()),)})


TOY = Recipe(
    name="toy",
    about="a toy",
    source="a folder",
    build=_build,
    options=(Option("types", ("ADR", "all"), "which types"),),
    paper=(1, 0, 2),
    remark="It is a toy.",
)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, RECIPES, "toy", f"{__name__}:TOY")


def test_writes_splits_and_a_record_that_traces_them(tmp_path: Path) -> None:
    prepared = prepare("toy", str(tmp_path), str(tmp_path / "out"), options={"types": "all"})
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        ["train.jsonl", "dev.jsonl", "test.jsonl", RECORD]
    )
    assert list(read(tmp_path / "out" / "train.jsonl", "jsonl")) == [DOCUMENT]
    record = json.loads((tmp_path / "out" / RECORD).read_text("utf-8"))
    assert record == prepared.to_dict()
    assert (record["recipe"], record["options"], record["disconer"]) == ("toy", {"types": "all"}, __version__)
    for split in SPLITS:
        content = (tmp_path / "out" / f"{split}.jsonl").read_bytes()
        assert record["splits"][split]["sha256"] == hashlib.sha256(content).hexdigest()
    assert record["normalised"] == {"fragments out of order": 2}
    assert record["lost"] == {"notes without an annotation file": 1}


def test_counts_of_a_split() -> None:
    assert count([DOCUMENT]).to_dict() == {
        "documents": 1,
        "sentences": 2,
        "entities": 5,
        "regular": 0,
        "overlapped": 4,
        "discontinuous": 1,
        "sharing_text": 5,
        "crossing_sentences": 1,
        "cutting_tokens": 1,
        "training_texts": 0,
    }
    assert count([DOCUMENT, DOCUMENT.replace(text=f"{TEXT} ")], {text_key(DOCUMENT)}).training_texts == 2


def test_sharing_text_counts_discontinuous_entities_too_and_no_repetition() -> None:
    apart = Document("d", TEXT, (entity((0, 4)), entity((0, 4)), entity((8, 12), (17, 21)), entity((25, 30))), ())
    assert count([apart]).sharing_text == 0
    overlapping = apart.replace(entities=(entity((0, 12)), entity((0, 7), (17, 21)), entity((25, 30))))
    counts = count([overlapping])
    assert (counts.overlapped, counts.discontinuous, counts.sharing_text) == (1, 1, 2)


def test_the_table_has_a_column_for_each_split() -> None:
    empty = count([])
    assert render("toy", {"train": count([DOCUMENT]), "dev": empty}).splitlines()[:-1] == [
        "toy                 train    dev",
        "documents               1      0",
        "sentences               2      0",
        "entities                5      0",
        "% overlapped         80.0      -",
        "% discontinuous      20.0      -",
        "% sharing text      100.0      -",
        "crossing sentences      1      0",
        "cutting tokens          1      0",
    ]


def test_counts_other_than_the_papers_are_noted(tmp_path: Path) -> None:
    note = prepare("toy", tmp_path, tmp_path / "out").note()
    assert note == "documents in train/dev/test: 1/0/1, where the paper has 1/0/2. It is a toy."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": "none"}, "The option 'types' of the recipe 'toy'.*Got 'none', expected one of ADR, all"),
        ({"setting": "full"}, "The recipe 'toy' has no option 'setting'. Expected one of types"),
    ],
)
def test_unknown_options_are_told_the_known_ones(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(DisconerError, match=message):
        prepare("toy", tmp_path, tmp_path / "out", options=options)


def test_an_existing_folder_is_replaced_only_if_it_was_prepared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    prepare("toy", tmp_path, out)
    with pytest.raises(DisconerError, match="already exists"):
        prepare("toy", tmp_path, out)
    prepare("toy", tmp_path, out, force=True)
    (out / RECORD).rename(out / "thesis.txt")
    with pytest.raises(DisconerError, match="not written by `disconer prepare`"):
        prepare("toy", tmp_path, out, force=True)
    assert (out / "thesis.txt").exists()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        prepare("toy", tmp_path / "broken", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_command_prints_the_table_and_reports_on_stderr(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["prepare", "toy", str(tmp_path), str(tmp_path / "out"), "--types", "all"])
    assert result.exit_code == 0
    assert result.stdout.startswith("toy ")
    assert "note: documents in train/dev/test" in result.stderr
    assert "normalised: 2 fragments out of order" in result.stderr


def test_the_command_prints_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["prepare", "toy", str(tmp_path), str(tmp_path / "out"), "--json"])
    assert json.loads(result.stdout)["splits"]["train"]["entities"] == 5


@pytest.mark.parametrize("given", [["--types", "all"], ["--types=all"]])
def test_the_options_of_a_recipe_may_stand_anywhere(tmp_path: Path, given: list[str]) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["prepare", *given, "toy", str(tmp_path), str(out)])
    assert result.exit_code == 0
    assert json.loads((out / RECORD).read_text("utf-8"))["options"] == {"types": "all"}


def test_an_option_that_a_recipe_does_not_have_is_told_those_it_has(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["prepare", "toy", str(tmp_path), str(tmp_path / "out"), "--setting", "full"])
    assert isinstance(result.exception, DisconerError)
    assert str(result.exception) == (
        "The recipe 'toy' has no option --setting. "
        "Expected --types ADR|all, --force, --help, --json, --overwrite, --skip-bad."
    )


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_all_recipes_are_listed_with_their_options(arguments: list[str]) -> None:
    text = " ".join(CliRunner().invoke(app, ["prepare", *arguments]).stdout.split())
    for name in RECIPES.names():
        assert f"{name}: {recipe_named(name).about}" in text
    assert "Option --types ADR|all: which types; default ADR." in text


def test_a_recipe_that_cannot_be_loaded_is_left_out_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, RECIPES, "broken", "nowhere:RECIPE")
    with pytest.warns(DisconerWarning, match="'broken'.* cannot be loaded"):
        assert "phee: " in CliRunner().invoke(app, ["prepare"]).stdout


def test_the_help_of_one_recipe_tells_its_options_alone() -> None:
    text = " ".join(CliRunner().invoke(app, ["prepare", "genia", "--help"]).stdout.split())
    assert "Option --setting continuous|full" in text
    assert "cadec" not in text


def test_an_unknown_recipe_is_told_the_known_ones() -> None:
    with pytest.raises(DisconerError, match=r"There is no recipe for a corpus 'conll'\. Expected one of cadec"):
        recipe_named("conll")
