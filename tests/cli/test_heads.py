"""Heads other than the default, from a first configuration to every use of the model: nothing else differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner, Result

from disconer import Document, Recognizer, read, write
from disconer.cli import app
from disconer.config import load_config
from disconer.training.loop import Loop
from once import made_once
from serve.fakes import running
from training.synthetic import complaints, save_encoder

pytestmark = pytest.mark.slow

HEADS = {
    "tagger": {"head.scheme": "BIOHD1234"},
    "grid": {"head.channels": 16, "head.biaffine": 16, "head.hidden": 32, "head.dropout": 0.0},
    "hypergraph": {"head.hidden": 32, "head.dropout": 0.0},
    "transition": {"head.stack": 24, "head.hidden": 32, "head.dropout": 0.0},
    "sequence": {"head.size": 32, "head.dropout": 0.0},
    "combined": {"head.transitions.stack": 24, "head.transitions.hidden": 32, "head.transitions.dropout": 0.0},
}
GRAPHS = {  # none: torch only
    "tagger": {"network.onnx"},
    "grid": {"network.onnx", "pairs.onnx"},
    "hypergraph": {"network.onnx"},
    "transition": set(),
    "sequence": {"network.onnx", "labels.onnx"},
    "combined": set(),
}
FOUND = {  # what `init` says of the data
    "tagger": "Tags: BIOHD. Entities that each scheme expresses: BIO ",
    "grid": "Entities of up to 16 words from first to last: 100.0% of them.",
    "hypergraph": "Entities of up to 16 words from first to last and 2 fragments: 100.0% of them.",
    "transition": "Entities that actions on a stack can make: ",
    "sequence": "Entities that labels of words can express: ",
    "combined": "Entities that actions on a stack can make: ",
}
ABOUT = {
    "tagger": (
        "with the head `tagger`: each word gets one tag",
        "They have at most two fragments. None has all its words in another of its label",
    ),
    "grid": ("with the head `grid`: it scores each pair of words", "None has more than 16 words from its first to its"),
    "hypergraph": (
        "with the head `hypergraph`: for each word and label",
        "None has more than 16 words from its first to its last. None has more than 2 fragments.",
    ),
    "transition": ("with the head `transition`: actions, one after another", "No two have the same words."),
    "sequence": (
        "with the head `sequence`: an LSTM generates the labels",
        "None is discontinuous, and no word belongs",
    ),
    "combined": ("with the head `combined`: actions on a stack of spans", "No two have the same words."),
}
STAGES = {
    "tagger": "tags",
    "grid": "grid",
    "hypergraph": "edges",
    "transition": "actions",
    "sequence": "labels",
    "combined": "evidence",
}
PROPOSED = {
    "tagger": "scheme: BIOHD ",
    "grid": "reach: 16 ",
    "hypergraph": "max_fragments: 2 ",
    "transition": "beam: 1 ",
    "sequence": "max_labels: 8 ",
    "combined": "max_width: 6 ",
}
SMALL = {
    "encoder.pooling": "mean",
    "encoder.dropout": 0.0,
    "encoder.lstm": "null",
    "training.precision": "fp32",
    "training.epochs": 3,
    "training.batch_tokens": 64,
    "training.steps_at_least": 100,
    "training.encoder_rate": 2e-3,
    "training.head_rate": 1e-2,
    "training.adversarial": 0.0,
}


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def train(folder: Path, out: str, *more: str) -> Path:
    chosen = SMALL | HEADS[folder.name]
    settings = [f"{key}={value}" for key, value in chosen.items()] + [f"encoder.name={folder / 'encoder'}"]
    run("train", folder / "config.yaml", "--out", folder / out, *(a for one in settings for a in ("--set", one)), *more)
    return folder / out


@pytest.fixture(scope="module", params=HEADS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, graphs_are_shared: None) -> Path:
    """A folder with the name of a head: data, an encoder, a configuration by `init`, and a trained model in `run`."""
    torch.set_num_threads(1)
    return made_once(tmp_path_factory, f"heads/{request.param}", trained)


def trained(folder: Path) -> Path:
    (folder / "data").mkdir()
    write(complaints(60), folder / "data" / "train.jsonl")
    write(complaints(20, seed=2), folder / "data" / "dev.jsonl")
    save_encoder(folder / "encoder")
    shown = run("init", folder / "data", "--head", folder.name, "--out", folder / "config.yaml").stdout
    assert FOUND[folder.name] in shown
    train(folder, "run")
    return folder


def gold(folder: Path) -> list[Document]:
    return list(read(folder / "data" / "dev.jsonl"))


def keys(document: Document) -> list[Any]:
    return [(entity.key, pytest.approx(entity.score, abs=1e-4)) for entity in document.entities]


def test_init(folder: Path) -> None:
    head = load_config(folder / "config.yaml").head
    assert head.kind == folder.name
    assert PROPOSED[folder.name] in (folder / "config.yaml").read_text("utf-8")


def test_check_shows_what_settings_express(folder: Path) -> None:
    oracle = json.loads(run("check", folder / "data" / "dev.jsonl", "--head", folder.name, "--json").stdout)["oracle"]
    compared = {
        "tagger": ("scheme=BIO", "scheme=BIOHD1234"),
        "grid": ("reach=8", "reach=null"),
        "sequence": ("max_labels=1", "max_labels=2"),
        "hypergraph": ("max_fragments=2", "reach=16"),
    }
    if folder.name in ("transition", "combined"):
        [(_, only)] = oracle.items()
        assert list(only["lost"]) == ["shares words with other entities in a way for which no actions were found"]
        assert only["all"]["found"] + sum(only["lost"].values()) == only["all"]["gold"]  # two by two parts, less one
        return
    less, more = (oracle[name]["all"]["f1"] for name in compared[folder.name])
    if folder.name in ("tagger", "sequence"):
        assert less < more < 1  # two by two parts are beyond every scheme of tags, and gaps beyond labels of words
    else:
        assert less == more == 1  # and no trouble for a grid or a hypergraph


def test_it_learns_discontinuous_entities_and_says_what_it_cannot(folder: Path) -> None:
    figures = json.loads((folder / "run" / "dev.json").read_text())
    assert figures["overall"]["f1"] > (0.5 if folder.name == "sequence" else 0.6)  # a third has gaps
    assert (figures["kinds"]["discontinuous"]["right"] > 0) == (folder.name != "sequence")
    card = (folder / "run" / "best" / "README.md").read_text("utf-8")
    assert all(sentence in " ".join(card.split()) for sentence in ABOUT[folder.name])


def test_resumed_it_comes_to_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    epoch = Loop._epoch

    def broken(loop: Loop, number: int) -> None:
        if number > 1:
            raise ConnectionResetError("the machine went away")
        epoch(loop, number)

    with monkeypatch.context() as context:
        context.setattr(Loop, "_epoch", broken)
        with pytest.raises(ConnectionResetError):
            train(folder, "resumed")
    train(folder, "resumed", "--resume")
    weights, expected = (load_file(folder / out / "last" / "model.safetensors") for out in ("resumed", "run"))
    torch.testing.assert_close(weights, expected, rtol=0, atol=0)


def test_evaluate_measures_what_training_did(folder: Path) -> None:
    shown = run("evaluate", folder / "data" / "dev.jsonl", "--model", folder / "run", "--json").stdout
    assert json.loads(shown)["overall"] == json.loads((folder / "run" / "dev.json").read_text())["overall"]


def test_predict_finds_what_the_recogniser_finds(folder: Path, tmp_path: Path) -> None:
    run("predict", folder / "data" / "dev.jsonl", "--model", folder / "run", "-o", tmp_path / "found.jsonl")
    ner = Recognizer.from_pretrained(folder / "run")
    expected = list(ner.annotate(gold(folder)))
    assert [keys(document) for document in read(tmp_path / "found.jsonl")] == [keys(one) for one in expected]
    assert sum(len(one.entities) for one in expected) > 10


def test_serve(folder: Path) -> None:
    ner = Recognizer.from_pretrained(folder / "run")
    texts = [document.text for document in gold(folder)]
    with running(ner, name=folder.name) as service:  # type: ignore[arg-type]
        status, _, answer = service.predict(*texts)
    assert status == 200
    found = [[entity["text"] for entity in one["entities"]] for one in answer["documents"]]
    assert found == [[entity.text for entity in document.entities] for document in ner.pipe(texts)]


def test_spacy(folder: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'disconer[spacy]'")
    nlp = spacy.blank("en")
    nlp.add_pipe("disconer", config={"model": str(folder / "run")})
    ner = Recognizer.from_pretrained(folder / "run")
    for document in gold(folder):
        assert [one.key for one in nlp(document.text)._.disconer] == [one.key for one in ner(document.text).entities]


def test_bench_times_its_stages(folder: Path) -> None:
    options = ["--repeats", 1, "--device", "cpu", "--runtime", "torch", "--json", "--limit", 20]
    options += ["--only", "runtimes,stages,training"]  # the others are the same for all heads
    shown = run("bench", "--model", folder / "run", "--data", folder / "data" / "dev.jsonl", *options).stdout
    report = json.loads(shown)
    assert {"encode", STAGES[folder.name], "decode"} <= report["stages"]["seconds"].keys()
    assert report["training"]["ratio"]["value"] > 1
    if GRAPHS[folder.name]:
        assert report["runtimes"].keys() == {"onnx", "torch"}


def test_export_compact(folder: Path, tmp_path: Path) -> None:
    run("export", folder / "run", tmp_path / "out", "--compact")
    found = list(Recognizer.from_pretrained(tmp_path / "out").annotate(gold(folder)))
    assert sum(len(one.entities) for one in found) > 10


@pytest.mark.parametrize("folder", ["transition", "sequence", "combined"], indirect=True)  # others in tests/nn/heads
def test_export_onnx(folder: Path, tmp_path: Path) -> None:
    if not GRAPHS[folder.name]:
        refused = CliRunner().invoke(app, ["export", str(folder / "run"), str(tmp_path / "out"), "--onnx"])
        assert refused.exit_code == 1
        assert f"A head of kind {folder.name} has no ONNX graph" in str(refused.exception)
        return
    run("export", folder / "run", tmp_path / "out", "--onnx")
    before, after = (Recognizer.from_pretrained(path) for path in (folder / "run", tmp_path / "out"))
    documents = gold(folder)
    found = list(after.annotate(documents))
    assert [keys(one) for one in found] == [keys(one) for one in before.annotate(documents)]
    assert sum(len(one.entities) for one in found) > 10
    assert {path.name for path in (tmp_path / "out").glob("*.onnx")} == GRAPHS[folder.name]
