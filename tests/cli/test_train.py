from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from disconer import DisconerError
from disconer.cli import app
from disconer.config import dump_config
from training.synthetic import complaints, prepare


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration of one epoch on a handful of sentences."""
    path = tmp_path / "config.yaml"
    path.write_text(dump_config(prepare(tmp_path, complaints(4), complaints(4), epochs=1)))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["train", *map(str, arguments)], catch_exceptions=False)


def test_tables_of_dev_and_test(config: Path, tmp_path: Path) -> None:
    result = run(config, "--out", tmp_path / "run", "--set", f"data.test={tmp_path / 'dev.jsonl'}")
    assert result.exit_code == 0
    assert result.stdout.count("Entities of 4 documents") == 2
    assert result.stdout.index("\ndev\n") < result.stdout.index("\ntest\n")
    assert "epoch   1  loss" in result.stderr


def test_json_is_all_of_stdout(config: Path, tmp_path: Path) -> None:
    result = run(config, "--out", tmp_path / "run", "--json")
    figures = json.loads(result.stdout)
    assert figures["best_epoch"] == 1
    assert figures["model"] == str(tmp_path / "run" / "best")
    assert figures["dev"]["documents"] == 4
    assert "test" not in figures


def test_settings_are_checked_before_anything_is_done(config: Path, tmp_path: Path) -> None:
    with pytest.raises(DisconerError, match="did you mean 'seed'"):
        run(config, "--out", tmp_path / "run", "--set", "training.sede=1")
    with pytest.raises(DisconerError, match=r"no such configuration.*one of the presets .*Did you mean 'chia'"):
        run("chai", "--out", tmp_path / "run")
    with pytest.raises(DisconerError, match="There is no such file or folder"):
        run(config, "--out", tmp_path / "run", "--set", "data.train=nowhere.jsonl")
    with pytest.raises(DisconerError, match="neither a folder, nor bundled"):
        run(config, "--out", tmp_path / "run", "--set", "encoder.name=no-such-encoder")
    assert not any((tmp_path / "run").iterdir())


def test_interrupted(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "run"
    with monkeypatch.context() as context:
        context.setattr("disconer.training.training_run.read_data", interrupt)
        result = run(config, "--out", out)
        assert result.exit_code == 130
        assert result.stderr.endswith("\n\nstopped; nothing was trained yet.\n")
    with monkeypatch.context() as context:
        context.setattr("disconer.training.loop.Loop._step", interrupt)
        result = run(config, "--out", out)
        assert result.exit_code == 130
        assert (
            f"all finished epochs are saved in {out}: run the same command with --resume to continue" in result.stderr
        )
    assert run(config, "--out", out, "--resume").exit_code == 0


INTERRUPTED_IMPORT = """
import sys

package = sys.argv.pop(1)

class Interrupt:
    def find_spec(self, name, *_):
        if name == package:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from disconer.__main__ import main
main()
"""


@pytest.mark.parametrize(("package", "said"), [("typer", ""), ("torch", "\nstopped; nothing was trained yet.\n")])
def test_interrupted_while_something_is_imported(package: str, said: str, config: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, package, "train", str(config), "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


def test_another_process_than_the_first_says_who_it_is(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setattr("disconer.cli.processes.GRACE", 0.0)
    with pytest.raises(DisconerError, match=r"^In process 1 of .*: nowhere\.jsonl: There is no such file"):
        run(config, "--out", tmp_path / "run", "--set", "data.train=nowhere.jsonl")


@pytest.mark.slow
def test_help_needs_no_torch() -> None:
    code = "import sys, disconer.cli; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
