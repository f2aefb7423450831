"""Draw learning curves: F1 on dev by fraction of the training documents.

    python recipes/curves.py docs/pictures/learning.json docs/pictures

writes learning-all.svg and learning-discontinuous.svg, and prints the figures as a Markdown table. The JSON is a list
with one item per fraction and corpus:

    {"corpus": "Chia", "percent": 10, "documents": 162, "all": [0.61, 0.6, 0.62], "discontinuous": [0.2, 0.18, 0.25]}

with the F1 of every seed, for all entities and for discontinuous ones alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disconer.evaluate import spread
from disconer.render.report.plots import Axis, Dot, Series, picture

MEASURES = {"all": "all entities", "discontinuous": "discontinuous entities alone"}
STEP = 10  # of the axis of F1

Item = dict[str, Any]


def curves(measured: Sequence[Item], measure: str) -> str:
    """The plot of one metric: one line per corpus."""
    corpora = {item["corpus"]: None for item in measured}
    series = [_series(corpus, [item for item in measured if item["corpus"] == corpus], measure) for corpus in corpora]
    shares = sorted({item["percent"] for item in measured})
    highest = max(y for one in series for _, y in one.points)
    ticks = [float(tick) for tick in range(0, 101, STEP) if tick < highest + STEP]
    x = Axis("training documents, %", shares[0], shares[-1], shares, log=True)
    y = Axis("F1 on dev", 0.0, ticks[-1], ticks)
    return picture(f"F1 by fraction of the training data: {MEASURES[measure]}", x, y, series)


def _series(corpus: str, items: Sequence[Item], measure: str) -> Series:
    ordered = sorted(items, key=lambda item: float(item["percent"]))
    points = [(float(item["percent"]), 100 * spread(item[measure]).mean) for item in ordered]
    dots = [
        Dot(x, y, f"{corpus}, {item['documents']:,} documents: {spread(item[measure])}")
        for item, (x, y) in zip(ordered, points, strict=True)
    ]
    return Series(corpus, points, dots)


def rows(measured: Sequence[Item]) -> list[str]:
    """A Markdown table of all figures."""
    head = ["| | training documents | F1 on dev | discontinuous |", "|---|---:|---:|---:|"]
    body = [
        f"| {item['corpus']}, {item['percent']} % | {item['documents']:,} "
        f"| {spread(item['all'])} | {spread(item['discontinuous'])} |"
        for item in measured
    ]
    return head + body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    measured = json.loads(given.measured.read_bytes())
    for measure in MEASURES:
        (given.out / f"learning-{measure}.svg").write_text(curves(measured, measure), "utf-8")
    print("\n".join(rows(measured)))


if __name__ == "__main__":
    main()
