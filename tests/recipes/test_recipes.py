"""The recipes, with a stand-in for the command that writes down what it is asked to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest
import torch

from disconer.nn.encoders.transformer.pretrained import load_encoder
from nn.toy import toy_bert, toy_tokenizer

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.parent.name for path in (ROOT / "recipes").glob("*/train"))

# Leaves behind what the steps look for: `disconer train` takes F1 from the seed, so that seed 2 is the best.
STAND_IN = """\
#!/usr/bin/env bash
echo "$@" >>"$CALLS"
case $1 in
prepare) mkdir -p "$4" && touch "$4/prepared.json" "$4/train.jsonl" ;;
train)
    mkdir -p "$4/best"
    seed=${4##*-}
    f1=0.$((seed == 2 ? 9 : seed))
    echo "{\\"overall\\": {\\"f1\\": $f1}}" | tee "$4/dev.json" >"$4/test.json"
    ;;
export) mkdir -p "$3" && touch "$3/model.safetensors" ;;
evaluate | bench) echo "{}" ;;
esac
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder; cards are not written, as there are no figures."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "disconer").write_text(STAND_IN)
    only_noted = "*release.py | *pack_encoder.py"
    (tools / "python").write_text(
        f'#!/bin/sh\ncase $1 in {only_noted}) echo "$@" >>"$CALLS" ;; *) {quote(sys.executable)} "$@" ;; esac\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    work = tmp_path / "work"
    work.mkdir()
    return work


def make(name: str, work: Path) -> list[str]:
    """What the command was asked to do."""
    calls = work.with_name("calls")
    calls.write_text("")
    arguments = ["corpus.zip", str(work), str(work / "out")]
    subprocess.run(["bash", ROOT / "recipes" / name / "train", *arguments], check=True, capture_output=True)
    return calls.read_text().splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_from_corpus_to_model(name: str, work: Path) -> None:
    calls = make(name, work)
    trained = [call for call in calls if call.startswith("train")]
    assert len(trained) == 3
    assert [call.split()[0] for call in calls[:-1]] == [
        *("prepare", *["train"] * len(trained)),
        *("export", "evaluate", "evaluate", "bench"),
    ]
    assert all(" encoder.name=" not in call for call in calls)
    assert calls[-5].startswith(f"export {work}/{name}-2/best {work}/out --compact")
    assert f"{name}/about.yaml" in calls[-1]


def test_what_is_done_is_not_done_again(work: Path) -> None:
    make("clinical-trials", work)
    assert [call for call in make("clinical-trials", work) if "release.py" not in call] == []
    (work / "clinical-trials-3" / "test.json").unlink()
    assert [call.split()[0] for call in make("clinical-trials", work)[:-1]] == ["train"]


def test_on_another_encoder(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENCODER", "my-encoder")
    assert "encoder.name=my-encoder" in make("biomedical", work)[1]


@pytest.mark.slow
def test_the_card_is_written_from_files(tmp_path: Path) -> None:
    """The script passes on what it is given; what the card says is tested elsewhere."""
    bench = {
        "environment": {"threads": 1, "processor": "a Babbage"},
        "throughput": {"end_to_end": {"sentences_per_second": 187.4}},
    }
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'recipes')!r}); import json, release; "
    code += "print(release.speed_in_words(json.loads(sys.argv[1])))"
    done = subprocess.run([sys.executable, "-c", code, json.dumps(bench)], check=True, capture_output=True, text=True)
    assert done.stdout == "From text to entities, one thread of a Babbage read 187 sentences of dev a second.\n"


def make_encoder(work: Path, *texts: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", ROOT / "recipes" / "encoder", work, *texts]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_encoder_is_adapted_four_times_and_packed(work: Path) -> None:
    corpora = ("chia", "genia", "phee", "craft", "psytar")
    for corpus in corpora:
        (work / corpus).mkdir()
        (work / corpus / "train.jsonl").touch()
    assert make_encoder(work, "a.txt", "b.txt.xz").returncode == 0
    first, second, third, fourth, packed = work.with_name("calls").read_text().splitlines()
    once = [f"{work}/{corpus}/train.jsonl" for corpus in corpora]
    assert first.startswith(f"adapt all-MiniLM-L6-v2 a.txt b.txt.xz {' '.join(once)} --minutes 8 ")
    assert second.startswith(f"adapt {work}/encoder-1 a.txt b.txt.xz ")
    assert third.startswith(f"adapt {work}/encoder-2 a.txt b.txt.xz ")
    assert fourth.startswith(f"adapt {work}/encoder-3 a.txt b.txt.xz ")
    for often in (second, third, fourth):
        assert [often.split().count(text) for text in once] == [10, 10, 10, 5, 10]
    assert f" --words {ROOT}/recipes/encoder-words.txt --case " in third
    assert packed.endswith(f"pack_encoder.py {work}/encoder-4 {work}/biomedical-minilm")


def test_an_encoder_of_what_is_not_there(work: Path) -> None:
    assert "usage" in make_encoder(work).stderr
    done = make_encoder(work, "a.txt")
    assert done.returncode
    assert f"disconer prepare chia SOURCE {work}/chia\n" in done.stderr
    assert f"disconer prepare genia SOURCE {work}/genia --setting full\n" in done.stderr


@pytest.mark.slow
def test_a_packed_encoder_is_found_like_any_other(tmp_path: Path) -> None:
    whole, packed = tmp_path / "whole", tmp_path / "packed"
    toy_bert().save_pretrained(whole)
    toy_tokenizer().save_pretrained(whole)
    subprocess.run([sys.executable, ROOT / "recipes" / "pack_encoder.py", whole, packed], check=True)
    transformer, tokenizer = load_encoder(str(packed))
    assert tokenizer.tokenize("knee") == ["k", "##n", "##e", "##e"]
    expected = load_encoder(str(whole))[0].state_dict()
    for name, weight in transformer.state_dict().items():
        assert torch.allclose(weight, expected[name], atol=0.01), name
