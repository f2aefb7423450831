"""Check that several processes train the same model as one process.

    python benchmarks/processes.py TRAIN DEV WORK [--processes 2] [--words 1200] [--dev 7] [--epochs 17]

TRAIN, DEV: annotated documents; the first ones are used, up to --words words and --dev documents.
WORK: a new folder for both runs.

One process that accumulates N batches per step and N processes with one each should see the same batches with the
same dropout. Only the order in which gradients are summed may differ. Losses are those of metrics.jsonl, epoch
by epoch; counts are those of dev.json, label by label.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from disconer import Document, read, write
from disconer.text import segment

TOLERANCE = 1e-3  # of the loss, relative
DEV_FIGURES = ("dev_precision", "dev_recall", "dev_f1", "dev_f1_discontinuous")


def worth(documents: Iterable[Document], n_words: int) -> Iterator[Document]:
    """The first documents, up to a number of words."""
    for document in documents:
        if n_words <= 0:
            return
        yield document
        n_words -= sum(len(sentence.tokens) for sentence in segment(document).sentences or ())


def train(work: Path, name: str, processes: int, accumulate: int, epochs: int) -> list[dict[str, Any]]:
    """A run of the preset for Chia on the excerpt; returns its records, one per epoch."""
    settings = {
        "data.train": work / "train.jsonl",
        "data.dev": work / "dev.jsonl",
        "data.test": "null",
        "training.batch_tokens": 256,
        "training.accumulate": accumulate,
        "training.epochs": epochs,
        "training.patience": epochs,
        "training.steps_at_least": 0,
        "training.encoder_rate": 3e-4,  # high, so that something is found after few steps
        "training.head_rate": 3e-3,
    }
    launcher = (
        [] if processes == 1 else ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", "-m"]
    )
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", *launcher, "disconer", "train", "chia", "--out", str(work / name), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in (work / name / "metrics.jsonl").read_text("utf-8").splitlines()]


def compare(one: list[dict[str, Any]], many: list[dict[str, Any]]) -> float:
    """Print both loss curves; returns the largest relative difference."""
    print("epoch  loss, one process  loss, several  relative difference  dev figures")
    gaps = []
    for alone, together in zip(one, many, strict=True):
        gaps.append(abs(alone["loss"] - together["loss"]) / alone["loss"])
        dev = "equal" if all(alone[key] == together[key] for key in DEV_FIGURES) else "DIFFERENT"
        print(f"{alone['epoch']:>5}  {alone['loss']:>17.6f}  {together['loss']:>13.6f}  {gaps[-1]:>19.1e}  {dev}")
    return max(gaps)


def dev_counts(run: Path) -> dict[str, Any]:
    """All counts of the best model on dev. Mean scores are left out: their last digits depend on the weights'."""
    figures: dict[str, Any] = json.loads((run / "dev.json").read_text("utf-8"))
    return {name: found for name, found in figures.items() if name != "calibration"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--words", type=int, default=1200)
    parser.add_argument("--dev", type=int, default=7, dest="n_dev")
    parser.add_argument("--epochs", type=int, default=17)
    given = parser.parse_args()
    given.work.mkdir(parents=True)
    write(worth(read(given.train), given.words), given.work / "train.jsonl")
    write(islice(read(given.dev), given.n_dev), given.work / "dev.jsonl")
    one = train(given.work, "one", 1, given.processes, given.epochs)
    many = train(given.work, "many", given.processes, 1, given.epochs)
    gap = compare(one, many)
    same = dev_counts(given.work / "one") == dev_counts(given.work / "many")
    print(f"largest loss difference {gap:.1e} (at most {TOLERANCE:.0e}): {'holds' if gap <= TOLERANCE else 'FAILS'}")
    print(f"counts of the best model on dev: {'equal' if same else 'DIFFERENT'}")
    sys.exit(0 if same and gap <= TOLERANCE else 1)


if __name__ == "__main__":
    main()
