"""From documents to DyGIE++'s records, as sodner fills them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, BinaryIO

from disconer.formats.dygie.fragments import Fragment, Relation, rebuild, take_apart
from disconer.formats.dygie.trees import to_heads, to_neighbours
from disconer.formats.jsonfiles import dump_json
from disconer.formats.sentencewise import TokenSentence, to_sentences
from disconer.ledger import Ledger
from disconer.types import Document


def write_stream(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    for document in documents:
        stream.write(dump_json(_record(document, ledger)) + b"\n")


def _record(document: Document, ledger: Ledger) -> dict[str, Any]:
    sentences = to_sentences(document, ledger, extras_kept="dygie")
    starts = list(accumulate((len(sentence.words) for sentence in sentences[:-1]), initial=0))
    kept = dict(document.extras.get("dygie", {}))
    kept_links = _kept(kept, "relations", len(sentences))
    kept_dep = _kept(kept, "dep", len(sentences))
    ner, relations = [], []
    for sentence, start, others in zip(sentences, starts, kept_links, strict=False):
        fragments, links = _take_apart(sentence, ledger)
        ner.append([[first + start, end - 1 + start, label] for (first, end), label in fragments])
        positions = [[a + start, b - 1 + start, c + start, d - 1 + start, name] for (a, b), (c, d), name in links]
        relations.append(positions + others)
    words = [sentence.words for sentence in sentences]
    record = {"doc_key": document.id, "sentences": words, "ner": ner, "relations": relations}
    dep = [_graph(sentence, known, ledger) for sentence, known in zip(sentences, kept_dep, strict=True)]
    return record | ({"dep": dep} if any(dep) else {}) | kept


def _kept(kept: dict[str, Any], name: str, n_sentences: int) -> list[Any]:
    """What reading kept for each sentence; nothing if the document was split anew since."""
    values = kept.pop(name, [])
    return values if len(values) == n_sentences else [[]] * n_sentences


def _take_apart(sentence: TokenSentence, ledger: Ledger) -> tuple[list[Fragment], list[Relation]]:
    entities = [(entity.label, entity.ranges) for entity in sentence.entities]
    fragments, links = take_apart(entities)
    written, read_back = Counter(entities), Counter(rebuild(fragments, links).entities)
    ledger.lost("entities that fragments cannot tell apart", (written - read_back).total())
    ledger.lost("entities invented when fragments are joined", (read_back - written).total())
    return fragments, links


def _graph(sentence: TokenSentence, known: Any, ledger: Ledger) -> Any:
    heads = sentence.sentence.heads
    if heads is None:
        return known or {}
    nodes = to_neighbours(heads)
    ledger.lost("dependency labels of a sentence", sentence.sentence.relations is not None)
    ledger.lost("dependency trees that come back with another root", to_heads(nodes) != heads)
    return {"nodes": nodes}
