"""Replace the trees of CRAFT's sentences with a file of heads written by heads.py.

    python attach.py CRAFT/dev.jsonl.gz OUT/dev.tuned.heads.json.gz OUT/tuned/dev.jsonl.gz

Relation names are removed: they belong to the original trees.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from convert import read_articles


def with_heads(article: dict[str, Any], heads: list[list[int]]) -> dict[str, Any]:
    sentences = [
        {"start": sentence["start"], "end": sentence["end"], "tokens": sentence["tokens"], "heads": own}
        for sentence, own in zip(article["sentences"], heads, strict=True)
    ]
    return article | {"sentences": sentences}


def attach(source: Path, heads: Path, target: Path) -> None:
    with gzip.open(heads, "rt", encoding="utf-8") as file:
        heads_of_articles = json.load(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(target, "wt", encoding="utf-8") as lines:
        for article, own in zip(read_articles(source), heads_of_articles, strict=True):
            lines.write(json.dumps(with_heads(article, own)) + "\n")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "heads", "target"):
        arguments.add_argument(name, type=Path)
    chosen = arguments.parse_args()
    attach(chosen.source, chosen.heads, chosen.target)


if __name__ == "__main__":
    main()
