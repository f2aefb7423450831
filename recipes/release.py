"""Write the card of a model to be bundled, from its metrics and about.yaml.

    python recipes/release.py MODEL --about ABOUT --runs RUN... --dev DEV_JSON --test TEST_JSON [--bench BENCH_JSON] \
        [--gold DEV_JSONL]

MODEL is the finished model's folder; RUN are the folders written by `disconer train`, one per seed; the JSON files are
the output of `disconer evaluate --json` and `disconer bench --json` for MODEL. On the documents of --gold it measures
what int8 costs MODEL, for `--precision auto`. Running it again rewrites the card.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from disconer import Recognizer, read
from disconer.evaluate.comparison import compare
from disconer.store.checkpoint import record_int8
from disconer.store.release import read_about, record_release


def speed_in_words(bench: dict[str, Any]) -> str:
    where, sentences = bench["environment"], bench["throughput"]["end_to_end"]["sentences_per_second"]
    threads = "one thread" if where["threads"] == 1 else f"{where['threads']} threads"
    return f"From text to entities, {threads} of {where['processor']} read {sentences:,.0f} sentences of dev a second."


def measure_int8(model: Path, gold: Path) -> None:
    exact, rounded = (
        Recognizer.from_pretrained(model, runtime="onnx", precision=precision) for precision in ("fp32", "int8")
    )
    record_int8(model, compare(exact, rounded, list(read(gold)), "/".join(gold.parts[-2:])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--about", type=Path, required=True)
    parser.add_argument("--runs", type=Path, nargs="+", required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--gold", type=Path)
    given = parser.parse_args()
    own = {split: json.loads(getattr(given, split).read_bytes()) for split in ("dev", "test")}
    speed = speed_in_words(json.loads(given.bench.read_bytes())) if given.bench else ""
    record_release(given.model, read_about(given.about), given.runs, own, speed=speed)
    if given.gold:
        measure_int8(given.model, given.gold)


if __name__ == "__main__":
    main()
