"""`disconer demo`: a first model, trained on this machine."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from disconer.core.errors import DisconerError, Where
from disconer.core.places import WEIGHTS
from disconer.core.plugins import require_training
from disconer.formats.target import new_folder
from disconer.store.names import DEMO, demo_folder


def demo(out: Path, *, epochs: int | None = None) -> None:
    """Train the demo model and save it in `out`, atomically; nothing else of the run is kept."""
    if out.exists() and not _has_model(out):
        raise DisconerError(
            "The folder for the demo model exists and is not a model",
            where=Where(str(out)),
            fix="Choose another folder with --out.",
        )
    require_training("The demo, which trains a model,")
    from disconer.demo import EPOCHS, demo_config
    from disconer.training import train

    run = out.with_name(f".{out.name}-run")
    shutil.rmtree(run, ignore_errors=True)  # left by a demo that was killed
    try:
        result = train(demo_config(epochs or EPOCHS), run)
        with new_folder(out) as folder:
            shutil.copytree(result.folder, folder, dirs_exist_ok=True)
    finally:
        shutil.rmtree(run, ignore_errors=True)


def _has_model(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file()


def demo_cli(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the model; default: where `--model demo` finds it."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Number of training epochs.")] = None,
    force: Annotated[
        bool, typer.Option("--force", "--overwrite", help="Train again if the model already exists.")
    ] = False,
) -> None:
    """Train a small model on bundled data, in about 6 minutes on one CPU thread.

    The data is an excerpt of Chia: eligibility criteria of clinical trials (Kury et al. 2020, CC BY 4.0). It shows
    what training looks like. Do not use the model for real work: 197 short documents are too few, and `disconer models`
    lists better models.
    """
    from disconer.demo import SENTENCE

    folder = out or demo_folder()
    if _has_model(folder) and not force:
        print(f"The demo model already exists: {folder}. (--force trains it again.)")
    else:
        started = time.perf_counter()
        demo(folder, epochs=epochs)
        print(f"Trained in {time.perf_counter() - started:.0f} seconds. The model is in {folder}.")
    print(f'Next: disconer predict --model {out or DEMO} --text "{SENTENCE}"')
