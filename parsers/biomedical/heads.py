"""Write a parser's heads for CRAFT's sentences and tokens, to measure what parses are worth to a model.

    python heads.py CRAFT/dev.jsonl.gz OUT/dev.gold.heads.json.gz                       CRAFT's own trees
    python heads.py CRAFT/dev.jsonl.gz OUT/dev.tuned.heads.json.gz en_disconer_biomedical
    python heads.py CRAFT/train.jsonl.gz OUT/train.tuned.heads.json.gz FOLD0 FOLD1      jack-knife

With several parsers, parser k of n parses articles k, k + n, k + 2n, …: those that `convert.py --without k --of n` held
out. The file is a list of articles, each a list of sentences, each a list of heads; -1 is the root's.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convert import parsed_doc, read_articles
from scores import load_parser, parse
from spacy.language import Language

ROOT = -1


def parsed_heads(nlp: Language, article: dict[str, Any]) -> list[list[int]]:
    docs = parse(nlp, (parsed_doc(nlp.vocab, article["text"], sentence) for sentence in article["sentences"]))
    return [[ROOT if token.head.i == token.i else token.head.i for token in doc] for doc in docs]


def heads_of_articles(source: Path, parsers: list[Language]) -> Iterator[list[list[int]]]:
    for position, article in enumerate(read_articles(source)):
        if parsers:
            yield parsed_heads(parsers[position % len(parsers)], article)
        else:
            yield [sentence["heads"] for sentence in article["sentences"]]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("target", type=Path)
    arguments.add_argument("parsers", nargs="*", metavar="PARSER")
    chosen = arguments.parse_args()
    heads = [*heads_of_articles(chosen.source, [load_parser(name) for name in chosen.parsers])]
    with gzip.open(chosen.target, "wt", encoding="utf-8") as target:
        json.dump(heads, target, separators=(",", ":"))


if __name__ == "__main__":
    main()
