"""Whether two versions of disconer predict the same: entity by entity, and score by score to the last digit.

    python benchmarks/same_predictions.py write MODEL DOCUMENTS OUT.jsonl [--most 300]
    python benchmarks/same_predictions.py compare BEFORE.jsonl AFTER.jsonl

`write` runs whichever disconer is imported (choose it with PYTHONPATH) over the raw texts of DOCUMENTS, native JSONL;
so sentences and tokens are compared along with the network. `compare` exits with 1 if anything differs. Use one thread
(OMP_NUM_THREADS=1) and the same machine for both: sums in another order have other last digits.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

Key = tuple[str, tuple[tuple[int, int], ...]]  # a label and fragments
SHOWN = 20  # differences


def write(model: str, documents: Path, out: Path, most: int) -> None:
    from disconer import Recognizer  # here, so that `compare` needs no torch

    recognizer = Recognizer.from_pretrained(model, device="cpu")
    with open(documents, encoding="utf-8") as stream:
        texts = [json.loads(line)["text"] for line in islice(stream, most)]
    with open(out, "w", encoding="utf-8") as stream:
        for document in recognizer.pipe(texts):
            entities = [
                {"label": entity.label, "fragments": list(map(_pair, entity.fragments)), "score": entity.score}
                for entity in document.entities
            ]
            stream.write(json.dumps({"text": document.text, "entities": entities}, ensure_ascii=False) + "\n")


def compare(before: Path, after: Path) -> int:
    """Print the differences; returns their number, or 1 if the texts differ."""
    old, new = list(_records(before)), list(_records(after))
    if [record["text"] for record in old] != [record["text"] for record in new]:
        print("The two files do not have the same texts, so there is nothing to compare.")
        return 1
    differences = [
        f"document {number}: {difference}"
        for number, (one, other) in enumerate(zip(old, new, strict=True), 1)
        for difference in _differences(_scores(one), _scores(other))
    ]
    for difference in differences[:SHOWN]:
        print(difference)
    n_entities = sum(len(record["entities"]) for record in old)
    print(f"{len(old)} documents, {n_entities} entities before, {len(differences)} differences")
    return len(differences)


def _differences(before: dict[Key, float], after: dict[Key, float]) -> Iterator[str]:
    for key in before.keys() | after.keys():
        if key not in after:
            yield f"{key} is lost"
        elif key not in before:
            yield f"{key} is new"
        elif before[key] != after[key]:
            yield f"{key} has the score {after[key]!r}, not {before[key]!r}"


def _scores(record: dict[str, Any]) -> dict[Key, float]:
    return {
        (entity["label"], tuple((start, end) for start, end in entity["fragments"])): entity["score"]
        for entity in record["entities"]
    }


def _pair(fragment: Any) -> tuple[int, int]:
    return fragment.start, fragment.end


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the predictions of a model")
    writing.add_argument("model")
    writing.add_argument("documents", type=Path)
    writing.add_argument("out", type=Path)
    writing.add_argument("--most", type=int, default=300, help="documents to look at")
    comparing = commands.add_parser("compare", help="compare two files of predictions")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "write":
        write(given.model, given.documents, given.out, given.most)
    else:
        sys.exit(1 if compare(given.before, given.after) else 0)


if __name__ == "__main__":
    main()
