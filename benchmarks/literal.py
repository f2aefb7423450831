"""Check that the fast path gives the same entities as the paper's equations, implemented literally.

    python benchmarks/literal.py --model models/chia --data data/chia/dev.jsonl

The fast path is `Recognizer`: sentences in sorted batches, first layers factorised, decisions in NumPy. Here each
sentence goes through the network alone; every span is the vector [h_start, h_end, width], every pair [s, s * s', s'],
each through its whole MLP; and entities are the maximal cliques. Prints how many documents agree, and the largest
difference of scores; the exit code is 1 if an entity differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import torch
from torch import Tensor, nn

from disconer import Document, Recognizer, read
from disconer.core.types import Fragment
from disconer.nn.arrays import word_arrays
from disconer.nn.devices import WordBatch
from disconer.nn.heads.span.head import SpanHead
from disconer.nn.heads.span.reading import NONE
from disconer.nn.heads.span.targets import Relation
from disconer.nn.windows import Window, Windower
from disconer.store.checkpoint import Model
from disconer.text.alignment import Range, to_fragments
from disconer.text.fragment_graph import assemble

Found = dict[tuple[str, tuple[Fragment, ...]], float]


def literal(model: Model, document: Document) -> Found:
    """The entities of a document with their scores, by the equations."""
    windower = Windower(model.config, model.reader, model.max_subwords)
    found: Found = {}
    for windows in windower.windows(windower.segment(document)):
        for window in windows:
            for label, ranges, score in _entities(model, window):
                if window.owns(ranges[0][0]):
                    moved = tuple((first + window.start, end + window.start) for first, end in ranges)
                    found[label, to_fragments(moved, window.sentence)] = model.scale(score)
    return found


@torch.inference_mode()
def _entities(model: Model, window: Window) -> Iterator[tuple[str, tuple[Range, ...], float]]:
    head: SpanHead = model.network.head
    words = model.network.words(WordBatch.from_arrays(word_arrays([[window]], model.reader)))[0]  # (N, d)
    ranges = [
        (first, end)
        for first in range(len(window))
        for end in range(first + 1, min(first + (head.max_width or len(window)), len(window)) + 1)
    ]
    vectors = torch.stack([torch.cat([words[a], words[b - 1], _width(head, b - a)]) for a, b in ranges])
    chances = _mlp(head.fragments, vectors).softmax(-1)
    chosen = [number for number, row in enumerate(chances) if row.argmax() != NONE]
    if len(chosen) > len(window):
        raise ValueError("more fragments than words: the model is untrained, and the comparison meaningless")
    labels = [head.labels[int(chances[number].argmax()) - 1] for number in chosen]
    edges = {}
    for a, b in combinations(range(len(chosen)), 2):
        first, second = vectors[chosen[a]], vectors[chosen[b]]
        relation = _mlp(head.relations, torch.cat([first, first * second, second])).softmax(-1)
        if relation.argmax() == Relation.SUCCESSION:
            edges[a, b] = float(relation[Relation.SUCCESSION])
    for entity in assemble([ranges[number] for number in chosen], [[label] for label in labels], edges):
        score = 1.0
        for span in entity.spans:
            score *= float(chances[chosen[span]].max())
        for pair in combinations(entity.spans, 2):
            score *= edges[pair]
        yield entity.label, entity.ranges, score


def _width(head: SpanHead, width: int) -> Tensor:
    vector: Tensor = head.widths(torch.tensor(width - 1))
    return vector


def _mlp(scorer: nn.Module, vectors: Tensor) -> Tensor:
    scores: Tensor = scorer.rest(scorer.first(vectors))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    recognizer = Recognizer.from_pretrained(arguments.model, device="cpu")
    bare = [document.replace(entities=()) for document in read(arguments.data)]
    n_entities, n_alike, furthest = 0, 0, 0.0
    for document, fast in zip(bare, recognizer.annotate(bare), strict=True):
        wanted = literal(recognizer.model, document)
        found = {entity.key: entity.score for entity in fast.entities}
        n_entities += len(wanted)
        n_alike += wanted.keys() == found.keys()
        furthest = max([furthest, *(abs(wanted[key] - found[key]) for key in wanted.keys() & found.keys())])
    print(f"{n_alike} of {len(bare)} documents alike, {n_entities} entities, scores at most {furthest:.1e} apart")
    raise SystemExit(n_alike < len(bare))


if __name__ == "__main__":
    main()
