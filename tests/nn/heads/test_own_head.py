"""A head of another package, the one that docs/how-to/heads.md shows: the seam holds without an edit elsewhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from disconer import DisconerError, Recognizer
from disconer.cli import app
from disconer.config import HEADS, Config, ConfigError, config_from_dict, dump_config, load_config
from disconer.config.knobs import knob_tree
from disconer.config.template import commented_yaml
from disconer.core.errors import DisconerWarning
from disconer.export.onnx import export_model
from disconer.store.checkpoint import load_model
from disconer.training import train
from training.synthetic import complaints, prepare

ROOT = Path(__file__).parents[3]
KINDS = "grid, hypergraph, span, tagger, transition, sequence, combined or word"


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the how-to, as if it were installed."""
    shown = (ROOT / "docs" / "how-to" / "heads.md").read_text("utf-8")
    kind, network = re.findall(r"```python\n(.*?)```", shown, re.S)
    package = tmp_path / "word_head"
    package.mkdir()
    (package / "__init__.py").write_text(kind)
    (package / "network.py").write_text(network)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(HEADS.__dict__, "_added", {"word": EntryPoint("word", "word_head:WORD", HEADS.group)})
    monkeypatch.setattr(HEADS, "_loaded", dict(HEADS._loaded))
    knob_tree.cache_clear()
    yield
    knob_tree.cache_clear()
    for name in ("word_head", "word_head.network"):
        sys.modules.pop(name, None)


def values(**head: object) -> dict[str, object]:
    return {"data": {"train": "a", "dev": "b"}, "head": {"kind": "word", **head}}


def test_its_section_is_like_any_other(tmp_path: Path) -> None:
    config = config_from_dict(values(dropout=0.3))
    assert config.to_dict()["head"] == {"kind": "word", "dropout": 0.3}
    assert config_from_dict(config.to_dict()) == config
    (tmp_path / "config.yaml").write_text(commented_yaml(config))
    loaded = load_config(tmp_path / "config.yaml")  # whose paths are relative to the file
    assert (loaded.head, loaded.training) == (config.head, config.training)
    shown = commented_yaml(config)
    assert f"kind: word                      # How entities are found: {KINDS}." in shown
    assert "dropout: 0.3                    # Dropout of the word vectors." in shown
    assert load_config("chia", ["head.kind=word"]).head == config_from_dict(values()).head


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ({"dropuot": 0.3}, "head.dropuot: unknown key; did you mean 'dropout'?"),
        ({"max_width": 3}, "head.max_width: unknown key; a setting of head.kind span, but kind is word"),
        ({"dropout": 1}, "head.dropout: got 1, expected a number from 0 and below 1"),
        (
            {"kind": "wrod"},
            f'head.kind: got "wrod", expected {KINDS}',
        ),
    ],
)
def test_what_is_wrong_with_it_is_said(head: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)):
        config_from_dict(values(**head))


def trained(folder: Path) -> Path:
    base = prepare(folder, complaints(12), complaints(12), epochs=2, batch_tokens=64, head_rate=1e-2)
    config = Config.model_validate(base.to_dict() | {"head": {"kind": "word"}})
    (folder / "config.yaml").write_text(dump_config(config))
    return train(config, folder / "run").folder


@pytest.mark.usefixtures("graphs_are_shared")
def test_trained_saved_loaded_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = trained(tmp_path)
    said = capsys.readouterr().err
    assert re.search(r"\d+ of \d+ training entities cannot be found: each has more than one", said)
    assert "note: runs only in torch: A head of kind word has no ONNX graph" in said
    with pytest.warns(DisconerWarning, match=r"runs in torch.*A head of kind word has no ONNX graph"):
        ner = Recognizer.from_pretrained(folder)
    assert ner.model.config.head.kind == "word"
    entities = [
        entity for document in ner.pipe(["lipitor gave me pain", "aspirin"] * 3) for entity in document.entities
    ]
    assert all(" " not in entity.text and 0 < (entity.score or 0) <= 1 for entity in entities)
    card = (folder / "README.md").read_text("utf-8")
    assert "Entities never cross sentences. Each of them is one word." in card
    assert "with the head `word`: each word has a label, or none." in card
    with pytest.raises(DisconerError, match="A head of kind word has no ONNX graph"):
        export_model(load_model(folder), tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


def test_a_training_may_start_from_a_model_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(tmp_path)
    config = load_config(tmp_path / "config.yaml", [f"training.start_from={tmp_path / 'run'}"])
    train(config, tmp_path / "again")
    assert "encoder, BiLSTM; the head is new: its kind does not support reuse\n" in capsys.readouterr().err


def test_check_and_init(tmp_path: Path) -> None:
    prepare(tmp_path, complaints(12), complaints(4))
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "train.jsonl"), "--head", "word", "--json"])
    (oracle,) = json.loads(checked.stdout)["oracle"].values()
    assert list(oracle["lost"]) == ["has more than one word"]
    assert oracle["all"]["found"] + oracle["lost"]["has more than one word"] == oracle["all"]["gold"]
    out = tmp_path / "config.yaml"
    result = CliRunner().invoke(app, ["init", str(tmp_path), "--head", "word", "-o", str(out)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert load_config(out).head.kind == "word"


def test_no_other_part_knows_how_a_head_works() -> None:
    """Names of the settings of heads, and their folders, stand in their folders only."""
    source = ROOT / "src" / "disconer"
    private = re.compile(
        r"max_width|max_fragments|gap_weight|\breach=\d|head\.scheme|relations\.enabled"
        r"|heads\.(span|grid|hypergraph|tagger|transition|sequence|combined)\b(?!:)"
    )
    knowing = [
        str(path.relative_to(source))
        for path in sorted(source.rglob("*.py"))
        if not path.is_relative_to(source / "nn" / "heads") and private.search(path.read_text("utf-8"))
    ]
    assert knowing == ["cli/check.py"]  # whose help shows an example of --set
