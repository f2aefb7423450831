"""Convert CRAFT's JSONL (one article per line; sentences with tokens, heads and relations) to spaCy's training format.

    python convert.py CRAFT/train.jsonl.gz OUT/train.spacy
    python convert.py CRAFT/train.jsonl.gz OUT/half.spacy --without 0 --of 2     all but articles 0, 2, 4, …

Each sentence becomes a separate document with CRAFT's tokens, so that spaCy trains on exactly what disconer gives a
parser: one tokenised sentence.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

ROOT_OF_SPACY = "ROOT"
ROOT_OF_CRAFT = "root"


def read_articles(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def parsed_doc(vocab: Vocab, text: str, sentence: dict[str, Any]) -> Doc:
    """A sentence with its gold tree. The root is its own head in spaCy, and -1 in the JSONL."""
    return Doc(
        vocab,
        words=[text[start:end] for start, end in sentence["tokens"]],
        spaces=[text[end : end + 1].isspace() for _, end in sentence["tokens"]],
        heads=[position if head < 0 else head for position, head in enumerate(sentence["heads"])],
        deps=[ROOT_OF_SPACY if name == ROOT_OF_CRAFT else name for name in sentence["relations"]],
    )


def convert(source: Path, target: Path, *, without: int, of: int) -> None:
    """Articles divided into `of` folds in turn; the fold `without` is left out (-1: none)."""
    vocab = Vocab()
    docs = [
        parsed_doc(vocab, article["text"], sentence)
        for position, article in enumerate(read_articles(source))
        if position % of != without
        for sentence in article["sentences"]
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs).to_disk(target)
    print(f"{target}: {len(docs)} sentences, {sum(len(doc) for doc in docs)} tokens")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("target", type=Path)
    arguments.add_argument("--without", type=int, default=-1, metavar="FOLD")
    arguments.add_argument("--of", type=int, default=1, metavar="FOLDS")
    chosen = arguments.parse_args()
    convert(chosen.source, chosen.target, without=chosen.without, of=chosen.of)


if __name__ == "__main__":
    main()
