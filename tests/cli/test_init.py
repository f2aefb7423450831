from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from disconer import BadInput, DisconerError, Document, Entity, read, write
from disconer.cli import app
from disconer.cli.init import init
from disconer.config import load_config, preset_text
from disconer.core.errors import DisconerWarning
from disconer.core.sentence import Sentence

TEXT = "Severe muscle pain and stiffness."


def documents(count: int = 30) -> list[Document]:
    entities = (
        Entity("ADR", ((0, 18),), "T1"),
        Entity("ADR", ((0, 13), (23, 32)), "T2"),
        Entity("Drug", ((7, 13),), "T3"),
    )
    return [Document(f"note{number}", f"{TEXT} Day {number}.", entities) for number in range(count)]


def parsed(document: Document) -> Document:
    return document.replace(sentences=(Sentence(0, 6, ((0, 6),), heads=(-1,)),))


def test_a_brat_folder_becomes_splits_and_a_config_that_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(documents(), "notes", "brat")
    result = CliRunner().invoke(app, ["init", "notes", "--out", "adr.yaml"])
    assert result.exit_code == 0, result.output
    assert "24 training documents" in result.output
    assert "Split by a hash of the documents' ids: train 24, dev 3, test 3." in result.output
    assert "Next: disconer train adr.yaml --out model" in result.output
    config = load_config("adr.yaml")
    ids = [document.id for split in ("train", "dev", "test") for document in read(getattr(config.data, split))]
    assert sorted(ids) == sorted(document.id for document in documents())
    assert (config.head.kind, config.head.reach) == ("grid", 16)
    assert config.training.batch_tokens == 128
    text = Path("adr.yaml").read_text("utf-8")
    assert text.startswith("# Written by `disconer init` for notes.\n#\n#   disconer train adr.yaml --out model\n")
    assert "# Stop after this many epochs without a better F1 on dev, once it is above 0." in text


@pytest.mark.parametrize(
    ("count", "advice"),
    [
        (30, "Annotate more documents."),
        (150, "For a larger dev and no test, add --ratios 60/40,"),
        (300, "For larger ones, add --ratios 60/20/20,"),
        (400, None),
    ],
)
def test_splits_too_small_to_decide_by_are_told_with_what_helps(
    tmp_path: Path, count: int, advice: str | None, recwarn: pytest.WarningsRecorder
) -> None:
    """Three entities in each document, of which a tenth is dev and another test."""
    write(documents(count), tmp_path / "a.jsonl")
    init(tmp_path / "a.jsonl", tmp_path / "a.yaml")
    told = [str(warning.message) for warning in recwarn]
    assert len(told) == (advice is not None)
    if advice:
        n = count // 10
        assert f"dev has {n} documents with {3 * n} entities, too few to choose an epoch by; test has {n}" in told[0]
        assert advice in told[0]


def test_a_split_without_test_is_not_told_to_add_one(tmp_path: Path) -> None:
    """--ratios 60/20/20 would not make dev larger than 80/20 does."""
    write(documents(150), tmp_path / "a.jsonl")
    with pytest.warns(DisconerWarning, match=r"For a larger dev, add --ratios 60/40,"):
        init(tmp_path / "a.jsonl", tmp_path / "a.yaml", ratios="80/20")


def test_what_cannot_be_skipped_here_can_be_left_out_of_a_copy(tmp_path: Path) -> None:
    records = ({"id": id, "text": "pain", "entities": [{"label": "ADR", "fragments": [[4, 4]]}]} for id in "ab")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(BadInput, match="`disconer init` does not have this option: `disconer convert SRC COPY --skip-"):
        CliRunner().invoke(app, ["init", str(tmp_path / "a.jsonl")], catch_exceptions=False)
    with pytest.raises(BadInput, match=r"with --skip-bad\.$"):
        CliRunner().invoke(app, ["stats", str(tmp_path / "a.jsonl")], catch_exceptions=False)


def test_splits_that_are_there_are_used_where_they_are(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for split, count in (("train", 5), ("dev", 2), ("test", 1)):
        write(documents(count), data / f"{split}.jsonl")
    init(data, tmp_path / "config.yaml")
    config = load_config(tmp_path / "config.yaml")
    paths = (config.data.train, config.data.dev, config.data.test)
    assert paths == tuple(str(data / f"{split}.jsonl") for split in ("train", "dev", "test"))
    assert not (tmp_path / "config-data").exists()


def test_two_labels_on_many_spans_ask_for_many(tmp_path: Path) -> None:
    twice = (Entity("Drug", ((7, 13),)), Entity("Treatment", ((7, 13),)))
    write([document.replace(entities=twice) for document in documents()], tmp_path / "a.jsonl")
    init(tmp_path / "a.jsonl", tmp_path / "config.yaml", head="span")
    assert load_config(tmp_path / "config.yaml").head.labels == "many"


def test_a_preset_gives_the_rest_and_its_parser(tmp_path: Path) -> None:
    write(documents(), tmp_path / "a.jsonl")
    init(tmp_path / "a.jsonl", tmp_path / "a.yaml", preset="cadec")
    assert load_config(tmp_path / "a.yaml").encoder == load_config("cadec").encoder
    assert load_config(tmp_path / "a.yaml").syntax == load_config("cadec").syntax


def test_heads_that_nothing_is_made_of_are_told(tmp_path: Path) -> None:
    write([parsed(document) for document in documents()], tmp_path / "a.jsonl")
    result = CliRunner().invoke(app, ["init", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "a.yaml")])
    assert "The sentences have dependency heads" in result.output
    assert load_config(tmp_path / "a.yaml").syntax.gcn is None


def test_without_data_the_preset_itself_is_written(tmp_path: Path) -> None:
    out = tmp_path / "chia.yaml"
    result = CliRunner().invoke(app, ["init", "--preset", "chia", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text("utf-8") == preset_text("chia")


def test_the_same_data_is_split_the_same_way_again(tmp_path: Path) -> None:
    write(documents(), tmp_path / "a.jsonl")
    write(reversed(documents()), tmp_path / "b.jsonl")
    for name in "ab":
        init(tmp_path / f"{name}.jsonl", tmp_path / f"{name}.yaml")
    first, second = ({document.id for document in read(tmp_path / f"{name}-data" / "dev.jsonl")} for name in "ab")
    assert first == second


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    write(documents(), tmp_path / "a.jsonl")
    out = tmp_path / "config.yaml"
    out.write_text("mine")
    with pytest.raises(DisconerError, match=r"config\.yaml: This already exists"):
        init(tmp_path / "a.jsonl", out)
    assert out.read_text() == "mine"
    init(tmp_path / "a.jsonl", out, force=True)
    init(tmp_path / "a.jsonl", out, force=True)
    (tmp_path / "config-data" / "thesis.doc").touch()
    with pytest.raises(DisconerError, match=r"thesis\.doc in it"):
        init(tmp_path / "a.jsonl", out, force=True)


def test_splits_never_go_into_the_data(tmp_path: Path) -> None:
    write(documents(), tmp_path / "notes", "brat")
    with pytest.raises(DisconerError, match="outside the data"):
        init(tmp_path / "notes", tmp_path / "notes" / "config.yaml")


@pytest.mark.parametrize(
    ("bare", "message"),
    [
        (documents(1), "Too few documents"),
        ([d.replace(entities=()) for d in documents(5)], "no entities to learn from"),
    ],
)
def test_data_to_learn_nothing_from_leaves_nothing_behind(tmp_path: Path, bare: list[Document], message: str) -> None:
    write(bare, tmp_path / "a.jsonl")
    with pytest.raises(DisconerError, match=message):
        init(tmp_path / "a.jsonl", tmp_path / "config.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_neither_data_nor_preset_is_an_error() -> None:
    result = CliRunner().invoke(app, ["init"])
    assert isinstance(result.exception, DisconerError)


@pytest.mark.parametrize(("end", "expected"), [(3, True), (1, False)])
def test_whole_words_are_for_data_that_has_no_others(tmp_path: Path, end: int, expected: bool) -> None:
    """5mg, or the 5 in it."""
    entities = (Entity("Dose", ((0, end),), "T1"),)
    write([Document(f"note{number}", f"5mg on day {number}", entities) for number in range(30)], tmp_path / "a.jsonl")
    lines = init(tmp_path / "a.jsonl", tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml").data.whole_words is expected
    found = [line for line in lines if "inside a word" in line]
    assert found == (
        [] if expected else ["24 entities begin or end inside a word: predictions may, too (data.whole_words)."]
    )


def test_documents_outside_all_groups_are_counted(tmp_path: Path) -> None:
    given = [one.replace(id=f"p{number % 5}-{number}") for number, one in enumerate(documents(40))]
    write([*given, documents(1)[0].replace(id="x")], tmp_path / "a.jsonl")
    lines = init(tmp_path / "a.jsonl", tmp_path / "config.yaml", group=r"^p(\d)")
    assert r"Documents of one group (^p(\d)) are in one split: 5 groups." in lines
    assert "Documents whose ids do not match, such as 'x', are in no group: 1." in lines
