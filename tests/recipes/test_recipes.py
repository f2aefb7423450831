"""The recipes, with a stand-in for the command that writes down what it is asked to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.parent.name for path in (ROOT / "recipes").glob("*/train"))

# Leaves behind what the steps look for: `disconer train` takes F1 from the seed, so that seed 2 is the best.
STAND_IN = """\
#!/usr/bin/env bash
echo "$@" >>"$CALLS"
case $1 in
prepare) mkdir -p "$4" && touch "$4/prepared.json" ;;
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
    """A working folder with an encoder; cards are not written, as there are no figures."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "disconer").write_text(STAND_IN)
    (tools / "python").write_text(
        f'#!/bin/sh\ncase $1 in *release.py) echo "$@" >>"$CALLS" ;; *) {sys.executable} "$@" ;; esac\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    work = tmp_path / "work"
    (work / "encoder").mkdir(parents=True)
    (work / "encoder" / "config.json").touch()
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
    assert [call.split()[0] for call in calls[:-1]] == [
        *("prepare", "train", "train", "train"),
        *("export", "evaluate", "evaluate", "bench"),
    ]
    assert f"encoder.name={work}/encoder" in calls[1]
    assert calls[4].startswith(f"export {work}/{name}-2/best {work}/out --compact")
    assert f"{name}/about.yaml" in calls[-1]


def test_what_is_done_is_not_done_again(work: Path) -> None:
    make("clinical-trials", work)
    assert [call for call in make("clinical-trials", work) if "release.py" not in call] == []
    (work / "clinical-trials-3" / "test.json").unlink()
    assert [call.split()[0] for call in make("clinical-trials", work)[:-1]] == ["train"]


def test_without_an_encoder_it_is_said_how_to_make_it(work: Path) -> None:
    (work / "encoder" / "config.json").unlink()
    with pytest.raises(subprocess.CalledProcessError) as caught:
        make("biomedical", work)
    assert b"bash recipes/encoder" in caught.value.stderr


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


def test_the_encoder_is_adapted_to_all_texts(work: Path) -> None:
    calls = work.with_name("calls")
    subprocess.run(["bash", ROOT / "recipes" / "encoder", work / "encoder", "a.txt", "b.txt.xz"], check=True)
    assert calls.read_text().startswith(f"adapt all-MiniLM-L6-v2 a.txt b.txt.xz {work}/encoder ")
    done = subprocess.run(["bash", ROOT / "recipes" / "encoder", work / "encoder"], capture_output=True, text=True)
    assert done.returncode
    assert "usage" in done.stderr
