"""Accuracy and speed of the rule-based sentence splitter.

    python benchmarks/sentences.py ../shared/data [--split train] [--show 40]

Gold: GENIA's <sentence> elements (title and abstract separated by a line break, sentences by a space) and CRAFT's
sentences. An end must match to the character; the last end of a document is trivial and not counted. "wrapped" is the
same text wrapped to lines of 78 characters, like clinical notes. "inside lines" excludes ends at line breaks. "cut" is
the fraction of entities divided by a wrong end.
"""

from __future__ import annotations

import argparse
import tarfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from disconer import Document, Sentence, read
from disconer.text import SPLITTERS

WRAP_AT = 78


def genia(data: Path, split: str) -> Iterator[Document]:
    wanted = set((data / "genia" / f"{split}.ids").read_text().split())
    with tarfile.open(data / "genia" / "GENIAcorpus3.02.tgz") as archive:
        stream = archive.extractfile("GENIA_term_3.02/GENIAcorpus3.02.xml")
        for article in ElementTree.parse(stream).getroot().iter("article"):
            name = article.findtext("articleinfo/bibliomisc")
            if name.removeprefix("MEDLINE:") in wanted or name in wanted:
                yield _genia_document(name, article)


def _genia_document(name: str, article: ElementTree.Element) -> Document:
    text, sentences = "", []
    for part in ("title", "abstract"):
        for element in article.findall(f"{part}/sentence"):
            sentence = "".join(element.itertext()).strip()
            sentences.append(Sentence(len(text), len(text) + len(sentence), ()))
            text += sentence + " "
        text = text.rstrip() + "\n"
    return Document(name, text, sentences=tuple(sentences))


def craft(data: Path, split: str) -> Iterator[Document]:
    return read(data / "craft" / f"{split}.jsonl.gz")


def wrapped(document: Document) -> Document:
    """The document with some spaces replaced by line breaks; offsets are unchanged."""
    lines = []
    for line in document.text.split("\n"):
        start = 0
        while len(line) - start > WRAP_AT and (space := line.rfind(" ", start, start + WRAP_AT)) > start:
            lines.append(line[start:space])
            start = space + 1
        lines.append(line[start:])
    return document.replace(text="\n".join(lines))


@dataclass
class Score:
    right: int = 0
    found: int = 0
    gold: int = 0

    def add(self, found: set[int], gold: set[int]) -> None:
        self.right += len(found & gold)
        self.found += len(found)
        self.gold += len(gold)

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.found), self.right / max(1, self.gold)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        return f"P {precision:7.2%}  R {recall:7.2%}  F1 {f1:7.2%}  ({self.gold} ends)"


def evaluate(name: str, documents: list[Document], show: int) -> None:
    every, inside, cut, entities = Score(), Score(), 0, 0
    for document in documents:
        text = document.text
        found = {end for _, end in SPLITTERS["rules"](text)}
        gold = {sentence.end for sentence in document.sentences}
        last = max(gold)
        found, gold = found - {last, len(text.rstrip())}, gold - {last}
        every.add(found, gold)
        within = {end for end in found | gold if "\n" not in text[end : end + 2]}
        inside.add(found & within, gold & within)
        for end in sorted(found ^ gold):
            if show > 0:
                show -= 1
                print(
                    "wrong " if end in found else "missed",
                    repr(text[max(0, end - 40) : end]),
                    repr(text[end : end + 30]),
                )
        wrong = found - gold
        entities += len(document.entities)
        cut += sum(any(e.start < end < e.end for end in wrong) for e in document.entities) if wrong else 0
    print(f"{name:16} all          {every}")
    print(f"{'':16} inside lines {inside}")
    if entities:
        print(f"{'':16} cut          {cut / entities:.3%} of {entities} entities")


def speed(documents: list[Document]) -> None:
    start = time.process_time()
    for document in documents:
        SPLITTERS["rules"](document.text)
    seconds = time.process_time() - start
    size = sum(len(document.text.encode()) for document in documents)
    print(f"speed: {size / seconds / 1e6:.1f} MB/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of corpora")
    parser.add_argument("--split", default="test")
    parser.add_argument("--show", type=int, default=0, help="number of errors to print per corpus")
    arguments = parser.parse_args()
    for name, corpus in (("GENIA", genia), ("CRAFT", craft)):
        documents = list(corpus(arguments.data, arguments.split))
        evaluate(f"{name} {arguments.split}", documents, arguments.show)
        evaluate("  wrapped", [wrapped(document) for document in documents], 0)
        speed(documents)


if __name__ == "__main__":
    main()
