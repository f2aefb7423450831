"""How well texts in the usual layouts are split into sentences, and what that does to a model's entities.

    python benchmarks/sentences.py ../shared/data [--split test] [--model clinical-trials] [--show 20]

1. Boundaries. The gold sentences of GENIA, CRAFT and PsyTAR, laid out again: a paragraph on one line, wrapped at 60 to
   100 columns or to a ragged margin, a list with a bullet per sentence (with a hanging indent), one sentence per line.
   An end must match to the character; the last one of a document is trivial and not counted, nor are those that
   nothing shows (posts without stops, run on in a paragraph).
2. Notes: those in tests/text/notes, whose sentences were marked by hand.
3. Chia, one criterion per line: how often the splitters differ, how many gold entities a boundary cuts, and whether
   the same ends are found with every criterion wrapped.
4. Entities: F1 of the model on Chia with each splitter; and on 180 paragraphs of E3C case reports and on the notes,
   the entities that cross a boundary which a reader sees, and how much of what is found in a paragraph on one line is
   found in the same paragraph wrapped at 78 columns.

What is not in the folder is skipped.
"""

from __future__ import annotations

import argparse
import lzma
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from disconer import Document, Entity, Recognizer, read
from disconer.core.ledger import Ledger
from disconer.corpora import recipe_named
from disconer.evaluate import evaluate
from disconer.text import SPLITTERS

NOTES = Path(__file__).parent.parent / "tests" / "text" / "notes"
SOURCES = {"genia": "GENIAcorpus3.02.tgz", "psytar": "PsyTAR_dataset.xlsx", "chia": "chia_without_scope.zip"}
WIDTHS = (60, 72, 78, 100)
RAGGED = (81, 73, 88, 76, 72, 85)  # as of a font whose letters differ in width
N_PARAGRAPHS, MIN_SENTENCES = 180, 4
# What a reader takes for the end of a sentence in a case report, found without the splitter.
SEEN = re.compile(r"(?<=[a-z0-9)%][.!?]) +(?=[A-Z][a-z]+ )")

Paragraph = Sequence[str]  # its sentences


def corpus(data: Path, name: str, split: str) -> list[Document] | None:
    """The documents of a split, with gold sentences; None if the corpus is not there."""
    if name == "craft":
        path = data / "craft" / f"{split}.jsonl.gz"
        return list(read(path)) if path.exists() else None
    path = data / name / SOURCES[name]
    if not path.exists():
        return None
    recipe = recipe_named(name)
    return list(recipe.build(path, recipe.choose({}), Ledger())[split])


def paragraphs(document: Document, name: str) -> Iterator[Paragraph]:
    """GENIA: title and abstract; PsyTAR: a post; CRAFT: as separated by blank lines."""
    text, own = document.text, []
    for number, sentence in enumerate(document.sentences or ()):
        own.append(" ".join(text[sentence.start : sentence.end].split()))
        title = name == "genia" and number == 0
        if title or (name == "craft" and text[sentence.end : sentence.end + 2] == "\n\n"):
            yield own
            own = []
    if own:
        yield own


@dataclass
class Laid:
    """A text in some layout, and where its sentences end."""

    text: str = ""
    ends: tuple[int, ...] = ()

    def add(self, sentence: str, before: str, *, counted: bool = True) -> None:
        self.text += before + sentence
        self.ends += (len(self.text),) if counted else ()


def on_one_line(paragraph: Paragraph, laid: Laid) -> None:
    for number, sentence in enumerate(paragraph):
        last = number + 1 == len(paragraph)
        laid.add(sentence, " " if number else "", counted=last or sentence.rstrip("\"')]}”’")[-1:] in ".!?")


def wrapped_at(*widths: int) -> Callable[[Paragraph, Laid], None]:
    def lay(paragraph: Paragraph, laid: Laid) -> None:
        line, start = Laid(), len(laid.text)
        on_one_line(paragraph, line)
        laid.text += wrapped(line.text, *widths)
        laid.ends += tuple(start + end for end in line.ends)

    return lay


def wrapped(text: str, *widths: int) -> str:
    """The text with some of its spaces replaced by line breaks; its lines fit these widths in turn."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > widths[(len(lines) - 1) % len(widths)]:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def bulleted(paragraph: Paragraph, laid: Laid) -> None:
    for number, sentence in enumerate(paragraph):
        laid.add("\n  ".join(wrapped(sentence, 70).split("\n")), "\n- " if number else "- ")


def one_per_line(paragraph: Paragraph, laid: Laid) -> None:
    for number, sentence in enumerate(paragraph):
        laid.add(sentence, "\n" if number else "")


LAYOUTS: dict[str, Callable[[Paragraph, Laid], None]] = {
    "one line": on_one_line,
    **{f"wrapped at {width}": wrapped_at(width) for width in WIDTHS},
    "ragged, 72-88": wrapped_at(*RAGGED),
    "bullets": bulleted,
    "one per line": one_per_line,
}


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
        return f"{100 * precision:5.1f} {100 * recall:5.1f} {200 * self.right / max(1, self.found + self.gold):5.1f}"


def ends(splitter: str, text: str) -> set[int]:
    """Where sentences end, but for the last."""
    return {end for _, end in SPLITTERS[splitter](text)[:-1]}


def show_mistakes(text: str, found: set[int], gold: set[int], most: int) -> None:
    for end in sorted(found ^ gold)[:most]:
        what = "wrong " if end in found else "missed"
        print("   ", what, repr(text[max(0, end - 50) : end]), repr(text[end : end + 40]))


def boundaries(data: Path, split: str, show: int) -> None:
    print(f"\nSentence ends in {split}: precision, recall, F1 of rules, and of lines\n")
    for name in ("genia", "craft", "psytar"):
        documents = corpus(data, name, split)
        if documents is None:
            print(f"{name}: not there, skipped")
            continue
        for layout, lay in LAYOUTS.items():
            rules, lines = Score(), Score()
            for document in documents:
                laid = Laid()
                for paragraph in paragraphs(document, name):
                    laid.text += "\n\n" if laid.text else ""
                    lay(paragraph, laid)
                gold = set(laid.ends[:-1])
                rules.add(ends("rules", laid.text), gold)
                lines.add(ends("lines", laid.text), gold)
                show_mistakes(laid.text, ends("rules", laid.text), gold, show)
            print(f"{name:7} {layout:14} {rules.gold:6,}   {rules}   {lines}")
        print(f"{name:7} {speed(documents):.1f} MB/s")


def speed(documents: Iterable[Document]) -> float:
    texts = [document.text for document in documents]
    start = time.process_time()
    for text in texts:
        SPLITTERS["rules"](text)
    return sum(len(text.encode()) for text in texts) / (time.process_time() - start) / 1e6


def marked_notes() -> Iterator[tuple[str, set[int]]]:
    """The notes of the tests, and where their sentences end, but for the last; a | stands where one begins."""
    for path in sorted(NOTES.glob("*.txt")):
        laid = Laid()
        for part in path.read_text(encoding="utf-8").split("|")[1:]:
            laid.ends += (len(laid.text) + len(part.rstrip()),)
            laid.text += part
        yield laid.text, set(laid.ends[:-1])


def notes_by_hand(show: int) -> None:
    notes = list(marked_notes())
    print(f"\nSentence ends in {len(notes)} notes marked by hand: precision, recall, F1\n")
    for splitter in SPLITTERS:
        score = Score()
        for text, gold in notes:
            score.add(ends(splitter, text), gold)
            if splitter == "rules":
                show_mistakes(text, ends(splitter, text), gold, show)
        print(f"{splitter:7} {score.gold:4}   {score}")


def chia_boundaries(data: Path) -> None:
    print("\nChia: sentences of each splitter, and gold entities that its boundaries cut\n")
    for split in ("train", "dev", "test"):
        documents = corpus(data, "chia", split)
        if documents is None:
            print("chia: not there, skipped")
            return
        counts = {splitter: [0, 0] for splitter in SPLITTERS}
        joined, parted, again = 0, 0, Score()
        for document in documents:
            found = {splitter: ends(splitter, document.text) for splitter in SPLITTERS}
            joined += len(found["lines"] - found["rules"])
            parted += len(found["rules"] - found["lines"])
            for splitter, own in found.items():
                counts[splitter][0] += len(own) + 1
                counts[splitter][1] += sum(any(e.start < end < e.end for end in own) for e in document.entities)
            lines = [" ".join(document.text[start:end].split()) for start, end in SPLITTERS["lines"](document.text)]
            broken = "\n".join(wrapped(line, 78) for line in lines)
            again.add(ends("rules", broken), ends("rules", "\n".join(lines)))
        shown = "   ".join(f"{splitter} {n:6,} ({cut} cut)" for splitter, (n, cut) in counts.items())
        print(f"{split:6} {shown}   rules joins {joined} lines, splits {parted}")
        print(f"{'':6} each criterion wrapped at 78: its ends are found again with {again} (P, R, F1)")


def crossing(document: Document, seen: Iterable[int]) -> list[Entity]:
    """The entities that reach over one of these offsets."""
    return [entity for entity in document.entities if any(entity.start < at < entity.end for at in seen)]


def found_again(whole: Sequence[Document], broken: Sequence[Document]) -> float:
    """F1 of entities in wrapped texts against those in the same texts on one line."""
    score = Score()
    for one, other in zip(whole, broken, strict=True):
        score.add({entity.key for entity in other.entities}, {entity.key for entity in one.entities})  # type: ignore[arg-type]
    return 200 * score.right / max(1, score.found + score.gold)


def case_reports(data: Path) -> list[str]:
    """Paragraphs with enough sentences, at regular intervals."""
    path = data / "text" / "e3c.txt.xz"
    if not path.exists():
        return []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        long = [" ".join(line.split()) for line in lines if len(SEEN.findall(line)) >= MIN_SENTENCES - 1]
    return long[:: max(1, len(long) // N_PARAGRAPHS)][:N_PARAGRAPHS]


def entities(data: Path, model: str, show: int) -> None:
    gold = corpus(data, "chia", "dev")
    paragraphs = case_reports(data)
    notes = list(marked_notes())
    print(f"\nEntities of {model}\n")
    for splitter in SPLITTERS:
        recognizer = Recognizer.from_pretrained(model, splitter=splitter)
        if gold:
            bare = (Document(document.id, document.text) for document in gold)
            f1 = evaluate(gold, recognizer.annotate(bare)).overall.f1
            print(f"{splitter:7} Chia dev F1 {100 * f1:.2f}")
        in_notes = sum(len(crossing(recognizer(text), seen)) for text, seen in notes)
        print(f"{splitter:7} notes: {in_notes} entities cross a marked boundary")
        if not paragraphs:
            continue
        whole = list(recognizer.pipe(paragraphs))
        broken = list(recognizer.pipe(wrapped(paragraph, 78) for paragraph in paragraphs))
        across = 0
        for document in whole:
            seen = [match.start() for match in SEEN.finditer(document.text)]
            across += len(crossing(document, seen))
            for entity in crossing(document, seen)[:show]:
                print("   ", entity.label, repr(document.text[entity.start : entity.end]))
        n = sum(len(document.entities) for document in whole)
        print(f"{splitter:7} E3C: {across} of {n:,} entities in {len(whole)} paragraphs cross a boundary that is seen;")
        print(f"{'':7} wrapped at 78 columns, the same entities are found with F1 {found_again(whole, broken):.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of corpora")
    parser.add_argument("--split", default="test")
    parser.add_argument("--model", default="clinical-trials", help="a model trained on Chia")
    parser.add_argument("--show", type=int, default=0, help="mistakes to print per document")
    arguments = parser.parse_args()
    boundaries(arguments.data, arguments.split, arguments.show)
    notes_by_hand(arguments.show)
    chia_boundaries(arguments.data)
    entities(arguments.data, arguments.model, arguments.show)


if __name__ == "__main__":
    main()
