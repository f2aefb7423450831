"""Print the model of the training run with the highest F1 on dev; the first in case of ties.

python recipes/choose.py RUN...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def best(runs: list[Path]) -> Path:
    """The model folder of the best run."""

    def dev_f1(run: Path) -> float:
        return float(json.loads((run / "dev.json").read_bytes())["overall"]["f1"])

    return max(runs, key=dev_f1) / "best"


if __name__ == "__main__":
    print(best([Path(run) for run in sys.argv[1:]]))
