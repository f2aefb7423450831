"""`disconer train`: train a model on annotated documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.processes import end_process, is_first, one_voice, say_stopped
from disconer.core.errors import INTERRUPTED
from disconer.core.places import TRAINING_STATE
from disconer.core.plugins import require_training

if TYPE_CHECKING:
    from disconer.training import TrainingResult  # loaded when the command runs: it imports torch


def train_cli(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of a preset.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run: models, metrics, configuration.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, such as training.seed=7; repeatable."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in OUT; the result is that of an uninterrupted run.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", "--overwrite", help="Replace the run in OUT, and nothing else there.")
    ] = False,
    lr: Annotated[
        float | None, typer.Option("--lr", metavar="RATE", help="Short for --set training.encoder_rate=RATE.")
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", metavar="WORDS", help="Short for --set training.batch_tokens=WORDS: in words."),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", metavar="N", help="Short for --set training.epochs=N.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Short for --set training.seed=N.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False,
) -> None:
    """Train a model. The best checkpoint on dev is saved in OUT/best, the latest in OUT/last.

    A run can be killed at any time: the same command with --resume continues after the last finished epoch.

    On several GPUs or CPUs: torchrun --nproc-per-node 4 -m disconer train CONFIG --out OUT.
    """
    try:
        with one_voice():
            short = {"encoder_rate": lr, "batch_tokens": batch_size, "epochs": epochs, "seed": seed}
            shorts = [f"training.{name}={value}" for name, value in short.items() if value is not None]
            result = _train(config, [*(overrides or []), *shorts], out, resume=resume, force=force)
    except KeyboardInterrupt:
        say_stopped(_how_to_go_on(out))
        raise typer.Exit(INTERRUPTED) from None
    if is_first():
        _print(result, as_json=as_json)
    end_process()


def _train(config: str, overrides: list[str], out: Path, *, resume: bool, force: bool) -> TrainingResult:
    from disconer.config import load_config

    require_training("Training")
    settings = load_config(config, overrides)  # before torch is loaded, so that errors appear at once
    from accelerate import PartialState

    from disconer.training import train

    result = train(settings, out, resume=resume, force=force)
    PartialState().destroy_process_group()  # only when all processes are done
    return result


def _how_to_go_on(out: Path) -> str:
    if (out / TRAINING_STATE).is_file():  # asked without torch, whose import may be what was interrupted
        return f"all finished epochs are saved in {out}: run the same command with --resume to continue."
    return "nothing was trained yet."


def _print(result: TrainingResult, *, as_json: bool) -> None:
    from disconer.cli.console import show_evaluation

    splits = {"dev": result.dev, "test": result.test}
    evaluations = {split: evaluation for split, evaluation in splits.items() if evaluation is not None}
    if as_json:
        figures = {split: evaluation.to_dict() for split, evaluation in evaluations.items()}
        print(json.dumps({"model": str(result.folder), "best_epoch": result.best_epoch} | figures, indent=2))
        return
    for split, evaluation in evaluations.items():
        print(f"\n{split}\n")
        show_evaluation(evaluation)
