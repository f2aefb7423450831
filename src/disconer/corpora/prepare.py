"""From an official distribution to a folder of splits that can be traced: `train.jsonl`, …, `prepared.json`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from disconer.core.corpus import Corpus, text_key
from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Kind, sharing_text
from disconer.core.version import __version__
from disconer.corpora import recipe_named
from disconer.corpora.recipe import SPLITS, Recipe
from disconer.formats import write
from disconer.formats.target import new_folder, refuse_existing
from disconer.text.alignment import CROSSES, INSIDE, align

LEGEND = (
    "Kinds are exclusive: an entity with several fragments is discontinuous, even if it overlaps another. "
    "The paper does not say how it counts; 'sharing text' counts every entity that overlaps another, "
    "including discontinuous ones."
)


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """What one split holds. Entities that cross sentences or cut tokens are counted among the rest, too.

    training_texts: documents with the same text as a training document.
    """

    documents: int
    sentences: int
    entities: int
    regular: int
    overlapped: int
    discontinuous: int
    sharing_text: int
    crossing_sentences: int
    cutting_tokens: int
    training_texts: int = 0

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


def count(documents: Iterable[Document], training_texts: Set[bytes] = frozenset()) -> SplitCounts:
    """The counts of one split, whose documents have sentences.

    training_texts: keys of texts in another one.
    """
    totals: Counter[str] = Counter()
    for document in documents:
        totals["documents"] += 1
        totals["training texts"] += text_key(document) in training_texts
        totals["sentences"] += len(document.sentences or ())
        totals["sharing text"] += sum(sharing_text([entity.key for entity in document.entities]))
        for entity in document.entities:
            totals[str(entity.kind)] += 1
        for unaligned in align(document)[1]:
            totals[unaligned.reason] += 1
    return SplitCounts(
        documents=totals["documents"],
        sentences=totals["sentences"],
        entities=sum(totals[kind] for kind in Kind),
        regular=totals[Kind.REGULAR],
        overlapped=totals[Kind.OVERLAPPED],
        discontinuous=totals[Kind.DISCONTINUOUS],
        sharing_text=totals["sharing text"],
        crossing_sentences=totals[CROSSES],
        cutting_tokens=totals[INSIDE],
        training_texts=totals["training texts"],
    )


def render(name: str, splits: Mapping[str, SplitCounts]) -> str:
    """The table as text, one column per split, and what its lines mean."""
    rows = [(name, list(splits)), *_rows(list(splits.values()))]
    label_width = max(len(label) for label, _ in rows)
    cell_width = max(len(cell) for _, cells in rows for cell in cells) + 2
    lines = [label.ljust(label_width) + "".join(cell.rjust(cell_width) for cell in cells) for label, cells in rows]
    return "\n".join([*(line.rstrip() for line in lines), LEGEND])


def _rows(splits: list[SplitCounts]) -> Iterator[tuple[str, list[str]]]:
    yield "documents", [f"{split.documents:,}" for split in splits]
    yield "sentences", [f"{split.sentences:,}" for split in splits]
    yield "entities", [f"{split.entities:,}" for split in splits]
    yield "% overlapped", [_percent(split.overlapped, split) for split in splits]
    yield "% discontinuous", [_percent(split.discontinuous, split) for split in splits]
    yield "% sharing text", [_percent(split.sharing_text, split) for split in splits]
    if any(split.crossing_sentences for split in splits):
        yield "crossing sentences", [f"{split.crossing_sentences:,}" for split in splits]
    if any(split.cutting_tokens for split in splits):
        yield "cutting tokens", [f"{split.cutting_tokens:,}" for split in splits]
    if any(split.training_texts for split in splits):
        yield "texts of train", [f"{split.training_texts:,}" for split in splits]


def _percent(part: int, split: SplitCounts) -> str:
    return f"{100 * part / split.entities:.1f}" if split.entities else "-"


RECORD = "prepared.json"  # written beside the splits; a folder that has one may be replaced


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was prepared, how, and what it holds."""

    recipe: Recipe
    options: Mapping[str, str]
    source: str
    splits: Mapping[str, SplitCounts]
    sha256: Mapping[str, str]
    ledger: Ledger

    def table(self) -> str:
        """The paper's Table 1 line."""
        return render(self.recipe.name, self.splits)

    def note(self) -> str | None:
        """How the counts differ from the paper's, if they do."""
        if self.recipe.paper is None:
            return None
        unit = "sentences" if self.recipe.counts_sentences else "documents"
        found = tuple(getattr(counts, unit) for counts in self.splits.values())
        if found == self.recipe.paper:
            return None
        return (
            f"{unit} in {'/'.join(self.splits)}: {'/'.join(map(str, found))}, "
            f"where the paper has {'/'.join(map(str, self.recipe.paper))}. {self.recipe.remark}"
        ).rstrip()

    def to_dict(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.name,
            "options": dict(self.options),
            "source": self.source,
            "disconer": __version__,
            "splits": {
                split: {"file": f"{split}.jsonl", "sha256": self.sha256[split], **counts.to_dict()}
                for split, counts in self.splits.items()
            },
            "note": self.note(),
            "skipped": dict(self.ledger.errors),
            "normalised": dict(self.ledger.repairs),
            "lost": dict(self.ledger.losses),
        }


def prepare(
    name: str,
    source: str | Path,
    out: str | Path,
    *,
    options: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    force: bool = False,
) -> Prepared:
    """Write the splits of a corpus as native JSONL with sentences and tokens, whole or not at all."""
    source, out = Path(source), Path(out)
    recipe = recipe_named(name)
    chosen = recipe.choose(options or {})
    refuse_existing(out, force)
    _refuse_foreign(out)
    ledger = Ledger(skip_bad=skip_bad)
    corpus = recipe.build(source, chosen, ledger)
    with new_folder(out) as folder:
        sha256 = {split: _write_split(corpus, split, folder) for split in SPLITS}
        known = set(map(text_key, corpus["train"]))
        counts = {split: count(corpus[split], set() if split == "train" else known) for split in SPLITS}
        prepared = Prepared(recipe, chosen, source.resolve().name, counts, sha256, ledger)
        record = json.dumps(prepared.to_dict(), ensure_ascii=False, indent=2)
        (folder / RECORD).write_text(f"{record}\n", encoding="utf-8")
    return prepared


def _refuse_foreign(out: Path) -> None:
    """Replace only what an earlier run made: --force must not delete other work."""
    if out.exists() and not (out / RECORD).is_file() and not (out.is_dir() and not any(out.iterdir())):
        raise DisconerError(
            "This folder was not written by `disconer prepare`, so it is not replaced",
            where=Where(str(out)),
            fix="Choose another name for OUT.",
        )


def _write_split(corpus: Corpus, split: str, folder: Path) -> str:
    path = folder / f"{split}.jsonl"
    write(corpus[split], path, "jsonl")
    return hashlib.sha256(path.read_bytes()).hexdigest()
