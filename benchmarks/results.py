"""Metrics over seeds: mean and standard deviation of training runs, as rows of a Markdown table.

    python benchmarks/results.py models/chia-1 models/chia-2 models/chia-3

Each folder was written by `disconer train`; all should differ only in their seed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from disconer.core.types import Kind
from disconer.evaluate import spread

Figures = dict[str, Any]

ROWS: dict[str, Callable[[Figures], float]] = {
    "all entities": lambda figures: figures["overall"]["f1"],
    "precision": lambda figures: figures["overall"]["precision"],
    "recall": lambda figures: figures["overall"]["recall"],
    **{kind.value: lambda figures, kind=kind: figures["kinds"][kind.value]["f1"] for kind in Kind},
    "sentences with discontinuous": lambda figures: figures["discontinuous_sentences"]["f1"],
    "fragments": lambda figures: figures["fragments"]["f1"],
    "relations": lambda figures: figures["relations"]["f1"],
    "calibration error": lambda figures: figures["calibration"]["error"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="Folders that `disconer train` wrote.")
    runs: list[Path] = parser.parse_args().runs
    splits = [split for split in ("dev", "test") if all((run / f"{split}.json").is_file() for run in runs)]
    found = {split: [json.loads((run / f"{split}.json").read_text("utf-8")) for run in runs] for split in splits}
    print(f"| mean ± sd of {len(runs)} | {' | '.join(splits)} |")
    print("|---|" + "---|" * len(splits))
    for name, figure in ROWS.items():
        cells = [str(spread([figure(figures) for figures in found[split]])) for split in splits]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
