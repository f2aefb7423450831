"""Make the data of `disconer demo`: the documents of Chia that are richest in discontinuous entities.

    python scripts/make_demo_data.py chia_without_scope.zip

Only documents of the training split are used, so that Chia's dev and test splits stay unseen. The choice is
deterministic: the same archive gives the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from disconer.core.ledger import Ledger
from disconer.core.types import Document, Kind
from disconer.corpora import recipe_named
from disconer.formats import write

N_DOCUMENTS = 240
DEV_EVERY = 6  # every sixth trial is for development
TARGET = Path(__file__).parents[1] / "src" / "disconer" / "demo" / "criteria"


def choose(documents: tuple[Document, ...]) -> list[Document]:
    """The documents with the most discontinuous entities per word, in the order of their ids."""
    ranked = sorted(documents, key=lambda document: (-richness(document), document.id))
    return sorted(ranked[:N_DOCUMENTS], key=lambda document: document.id)


def richness(document: Document) -> float:
    words = sum(len(sentence.tokens) for sentence in document.sentences or ())
    discontinuous = sum(entity.kind is Kind.DISCONTINUOUS for entity in document.entities)
    return discontinuous / max(1, words)


def split(documents: list[Document]) -> dict[str, list[Document]]:
    """Documents for training and development; those of one trial stay together."""
    trials = sorted({trial(document) for document in documents})
    dev = set(trials[DEV_EVERY - 1 :: DEV_EVERY])
    return {
        "train": [document for document in documents if trial(document) not in dev],
        "dev": [document for document in documents if trial(document) in dev],
    }


def trial(document: Document) -> str:
    """The number of the trial that a document is about.

    >>> trial(Document("NCT00050349_exc", ""))
    'NCT00050349'
    """
    return document.id.partition("_")[0]


def make(source: Path, target: Path) -> None:
    """Write train.jsonl.gz and dev.jsonl.gz. Sentences are left out: the demo splits text as it will for users."""
    corpus = recipe_named("chia").build(source, {"sentences": "lines"}, Ledger())
    for name, documents in split(choose(corpus["train"])).items():
        write((document.replace(sentences=None) for document in documents), target / f"{name}.jsonl.gz", force=True)
        print(f"{name}: {len(documents)} documents, {sum(len(document.entities) for document in documents)} entities")


if __name__ == "__main__":
    make(Path(sys.argv[1]), TARGET)
