"""Several processes train what one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from disconer.config import config_from_dict
from disconer.training import train
from training.conftest import Run
from training.launch import accumulating, assert_close, launch, training
from training.synthetic import complaints, prepare

pytestmark = pytest.mark.slow


def test_two_processes_are_one_that_accumulates(tmp_path: Path) -> None:
    # 21 sentences, 5 dev documents: neither the last step nor the evaluation divides evenly.
    config = prepare(tmp_path, complaints(21), complaints(5), epochs=2, encoder_rate=2e-3, head_rate=1e-2)
    two, one = tmp_path / "two", tmp_path / "one"
    done = launch(2, *training(config, two))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\nepoch   1 ") == 1  # one speaks for both
    assert done.stdout.count("Entities of 5 documents") == 1
    assert not list(two.glob(".*"))  # nothing but the run is left

    train(accumulating(config, 2), one)
    train(accumulating(config, 2), two, resume=True)  # one process may go on where two were
    assert_close(two, one)


def test_processes_without_a_sentence_of_their_own_start_from_a_model(unbroken: Run, tmp_path: Path) -> None:
    # A pass is one step, of two sentences for three processes; an epoch has three passes.
    sizes = {"epochs": 2, "batch_tokens": 8, "steps_at_least": 6}
    values = prepare(tmp_path, complaints(2), complaints(1), **sizes, start_from=str(unbroken.out)).to_dict()
    config = config_from_dict(values | {"encoder": unbroken.config.to_dict()["encoder"]})
    three, one = tmp_path / "three", tmp_path / "one"
    done = launch(3, *training(config, three))
    assert done.returncode == 0, done.stderr
    assert "Entities of 1 document" in done.stdout
    assert done.stderr.count("each epoch goes over it 3 times, for 6 steps in all") == 1
    assert done.stderr.count("note: starts from ") == 1
    train(accumulating(config, 3), one)
    assert_close(three, one)


def test_processes_that_differ_say_who_has_what(tmp_path: Path) -> None:
    config = prepare(tmp_path, complaints(4), complaints(2))
    _, *arguments = training(config, tmp_path / "run")
    starter = tmp_path / "starter.py"  # gives each process a seed of its own
    starter.write_text(
        "import os, sys\n"
        "from disconer.cli import main\n"
        f"sys.argv = ['disconer', *{arguments!r}, '--set', 'training.seed=' + os.environ['RANK']]\n"
        "main()\n"
    )
    done = launch(2, str(starter))
    assert done.returncode == 1
    assert done.stderr.count("The processes of this run differ") == 1
    assert "training.seed 0 in process 0 on " in done.stderr
    assert "but 1 in process 1 on " in done.stderr
    assert not list((tmp_path / "run").iterdir())
