"""Attachment scores of parsers on gold sentences and gold tokens, without punctuation.

    python scores.py PIPELINE… --on CRAFT/test.jsonl.gz tests/parsers/general.conllu

UAS: words with the correct head. LAS: words with the correct head and relation. Punctuation, as annotated in the
treebank, is not counted.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from convert import ROOT_OF_SPACY, parsed_doc, read_articles
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

import spacy

PUNCTUATION = "punct"


@dataclass
class Score:
    words: int = 0
    heads: int = 0
    heads_and_relations: int = 0

    @property
    def uas(self) -> float:
        return 100 * self.heads / self.words

    @property
    def las(self) -> float:
        return 100 * self.heads_and_relations / self.words


def unparsed(gold: Doc) -> Doc:
    """The same words as one sentence without a tree."""
    return Doc(
        gold.vocab,
        words=[token.text for token in gold],
        spaces=[bool(token.whitespace_) for token in gold],
        sent_starts=[position == 0 for position in range(len(gold))],
    )


def parse(nlp: Language, docs: Iterable[Doc]) -> Iterator[Doc]:
    return nlp.pipe(unparsed(doc) for doc in docs)


def score(nlp: Language, gold: list[Doc]) -> Score:
    result = Score()
    for wanted, got in zip(gold, parse(nlp, gold), strict=True):
        for one, other in zip(wanted, got, strict=True):
            if one.dep_ == PUNCTUATION:
                continue
            same_head = one.head.i == other.head.i
            result.words += 1
            result.heads += same_head
            result.heads_and_relations += same_head and one.dep_ == other.dep_
    return result


def read_conllu(vocab: Vocab, path: Path) -> Iterator[Doc]:
    """Sentences of a CoNLL-U file without ranges of words and without empty nodes."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        heads = [int(row[6]) - 1 for row in rows]
        yield Doc(
            vocab,
            words=[row[1] for row in rows],
            spaces=["SpaceAfter=No" not in row[9] for row in rows],
            heads=[position if head < 0 else head for position, head in enumerate(heads)],
            deps=[ROOT_OF_SPACY if head < 0 else row[7] for head, row in zip(heads, rows, strict=True)],
        )


def read_trees(vocab: Vocab, path: Path) -> Iterator[Doc]:
    if path.suffix == ".conllu":
        yield from read_conllu(vocab, path)
        return
    for article in read_articles(path):
        for sentence in article["sentences"]:
            yield parsed_doc(vocab, article["text"], sentence)


def load_parser(name: str) -> Language:
    """A pipeline with nothing in it but the parser and what the parser needs."""
    nlp = spacy.load(name)
    for component in nlp.pipe_names:
        if component not in ("tok2vec", "transformer", "parser"):
            nlp.disable_pipe(component)
    return nlp


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pipelines", nargs="+", metavar="PIPELINE", help="an installed pipeline, or a folder")
    arguments.add_argument("--on", nargs="+", type=Path, required=True, metavar="FILE", help=".jsonl.gz or .conllu")
    chosen = arguments.parse_args()
    print("| parser | trees | words | UAS | LAS |\n|---|---|---|---|---|")
    for name in chosen.pipelines:
        nlp = load_parser(name)
        for path in chosen.on:
            result = score(nlp, list(read_trees(nlp.vocab, path)))
            print(f"| {name} | {path.name} | {result.words} | {result.uas:.2f} | {result.las:.2f} |", flush=True)


if __name__ == "__main__":
    main()
