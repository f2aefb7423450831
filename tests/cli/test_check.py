from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from annotated import TEXT, annotated
from disconer import DisconerError, Document, Sentence, write
from disconer.cli import app
from disconer.config import HEADS
from disconer.core.errors import DisconerWarning
from plugging import plug_in


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "sound.jsonl"
    write([annotated("ADR: pain … hands", "ADR: pain … knees", id="a")], path)
    return path


@pytest.fixture
def faulty(sound: Path) -> Path:
    path = sound.with_name("faulty.jsonl")
    bad = {
        "id": "b",
        "text": TEXT,
        "entities": [{"label": "A", "fragments": [[0, 999]]}, {"label": "A", "fragments": []}],
    }
    path.write_text(sound.read_text() + json.dumps(bad) + "\n{\n")
    return path


def test_no_errors_is_exit_code_0(sound: Path) -> None:
    result = run(sound)
    assert result.exit_code == 0
    assert "errors: none" in result.stdout
    assert "warnings: none" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    settings = ["reach=8", "reach=16", "reach=24", "reach=32", "reach=48", "reach=null", "decoding=paths"]
    assert [row[0] for row in rows if row[1:2] == ["100.00"]] == settings
    assert ["reach=8", "100.00", "100.00", "100.00", "-", "-", "100.00", "0", "0"] in rows


def test_heads_are_told_where_there_are_any(sound: Path, tmp_path: Path) -> None:
    assert "with heads" not in run(sound).stdout
    one, two = Sentence(0, 2, ((0, 2),), (-1,)), Sentence(3, 8, ((3, 8),))
    write([Document("c", "No fever", (), (one, two))], tmp_path / "parsed.jsonl")
    assert ["sentences", "with", "heads", "1", "of", "2"] in [
        line.split() for line in run(tmp_path / "parsed.jsonl").stdout.splitlines()
    ]


def test_ids_may_repeat_from_split_to_split(tmp_path: Path) -> None:
    """As where a tool numbers the documents of each file. They were errors, and only train was checked."""
    for split in ("train", "dev"):
        write([annotated("ADR: pain … hands", id="1")], tmp_path / f"{split}.jsonl")
    result = run(tmp_path)
    assert result.exit_code == 0
    assert re.search(r"documents +2 ", result.stdout)
    write([annotated("ADR: pain … hands", id="1")], tmp_path / "train-2.jsonl")
    write([annotated("ADR: pain … hands", id="1")], tmp_path / "more.jsonl")
    assert "duplicate-id" in run(tmp_path).stdout


def test_errors_are_counted_and_shown_and_exit_code_1(faulty: Path) -> None:
    result = run(faulty)
    assert result.exit_code == 1
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["bad-offset", "1"] in rows
    assert ["truncated", "1"] in rows
    assert f"bad-offset: {faulty}, line 2" in result.stdout
    figures = json.loads(run(faulty, "--json").stdout)
    assert figures["errors"] == {"bad-offset": 1, "bad-syntax": 1, "truncated": 1}
    assert [example["line"] for example in figures["examples"]] == [2, 2, 3]
    assert figures["documents"] == 2


def test_an_archive_that_cannot_be_trusted_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../a.jsonl", "")
    result = run(path, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["errors"] == {"unsafe-path": 1}


def test_settings_to_compare(sound: Path) -> None:
    compared = ["reach=1", "reach=2"]
    result = run(sound, "--json", *(argument for one in compared for argument in ("--set", one)))
    assert list(json.loads(result.stdout)["oracle"]) == compared


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("reach=0", "head.reach .*: got 0, expected a whole number from 1, or null"),
        ("raech=3", "did you mean 'reach'"),
        ("6", "expected section.key=value"),
    ],
)
def test_bad_settings(sound: Path, setting: str, message: str) -> None:
    with pytest.raises(DisconerError, match=message):
        run(sound, "--set", setting)


def test_the_oracle_of_another_head(sound: Path) -> None:
    """Two entities that share a word: not in BIO."""
    oracle = json.loads(run(sound, "--json", "--head", "tagger").stdout)["oracle"]
    assert {name: one["all"]["found"] for name, one in oracle.items()} == {
        "scheme=BIO": 0,
        "scheme=BIOHD": 2,
        "scheme=BIOHD1234": 2,
        "scheme=multilabel": 2,
    }
    with pytest.raises(DisconerError, match=r"no kind of head 'taggr'.*mean 'tagger'"):
        run(sound, "--head", "taggr")


def test_the_last_line_says_what_each_head_can_reach(sound: Path) -> None:
    """Two entities that share a word: not in BIO; the best settings of each head are taken, of the first that are."""
    assert run(sound).stdout.splitlines()[-1] == (
        "Best F1 by head: grid 100.00 (reach=8); hypergraph 100.00 (max_fragments=2); span 100.00 (max_width=6); "
        "tagger 100.00 (scheme=BIOHD); transition 100.00; combined 100.00; sequence 0.00 (max_labels=1)."
    )
    figures = json.loads(run(sound, "--json", "--head", "tagger", "--set", "scheme=BIO").stdout)
    assert figures["heads"]["tagger"] == {"settings": "scheme=BIO", "f1": 0.0}
    assert figures["heads"]["span"] == {"settings": "max_width=6", "f1": 1.0}


def test_a_head_of_another_package_that_cannot_be_loaded_is_left_out(
    sound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plug_in(monkeypatch, HEADS, "broken", "nowhere:HEAD")
    with pytest.warns(DisconerWarning, match="The kind of head 'broken'.* cannot be loaded"):
        assert "sequence 0.00 (max_labels=1)." in run(sound).stdout
    with pytest.raises(DisconerError, match=r"The kind of head 'broken'.* cannot be loaded"):
        run(sound, "--head", "broken")


def test_help_says_what_the_exit_code_means() -> None:
    assert "exit code" in run("--help").stdout


def test_a_real_corpus(data: Path) -> None:
    result = run(data / "craft" / "dev.jsonl.gz", "--json", "--set", "reach=6", "--set", "reach=null")
    figures = json.loads(result.stdout)
    assert (result.exit_code, figures["errors"]) == (0, {})
    limited, unlimited = figures["oracle"].values()
    for oracle in (limited, unlimited):
        assert oracle["all"]["gold"] - oracle["all"]["found"] == sum(oracle["lost"].values())
    assert limited["all"]["found"] < unlimited["all"]["found"]
    assert unlimited["discontinuous"]["f1"] > 0.99
