"""From documents to DyGIE++'s records, as sodner fills them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, BinaryIO

from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.dygie.fragments import rebuild, take_apart, to_heads, to_neighbours
from disconer.formats.dygie.read import N_TOKENS
from disconer.formats.extras import carried
from disconer.formats.jsonfiles import dump_json
from disconer.formats.sentencewise import TokenSentence, to_sentences


def write_stream(documents: Iterable[Document], stream: BinaryIO, ledger: Ledger) -> None:
    for document in documents:
        stream.write(dump_json(_record(document, ledger)) + b"\n")


def _record(document: Document, ledger: Ledger) -> dict[str, Any]:
    sentences = to_sentences(document, ledger, extras_kept="dygie")
    record: dict[str, Any] = {
        "doc_key": document.id,
        "sentences": [sentence.words for sentence in sentences],
        "ner": [],
        "relations": [],
    }
    with carried(document, "dygie") as kept:
        if kept.pop(N_TOKENS, None) != [len(sentence.words) for sentence in sentences]:
            ledger.lost("documents' dygie extras", bool(kept))  # their positions count tokens that are no more
            kept = {}
        kept_links = kept.pop("relations", [[]] * len(sentences))
        kept_graphs = kept.pop("dep", [{}] * len(sentences))
        start = 0
        for sentence, others in zip(sentences, kept_links, strict=True):
            ner, links = _take_apart(sentence, start, ledger)
            record["ner"].append(ner)
            record["relations"].append(links + others)
            start += len(sentence.words)
        graphs = [_graph(sentence, known, ledger) for sentence, known in zip(sentences, kept_graphs, strict=True)]
        if any(graphs):
            record["dep"] = graphs
        return record | {key: value for key, value in kept.items() if key not in record}


def _take_apart(sentence: TokenSentence, start: int, ledger: Ledger) -> tuple[list[Any], list[Any]]:
    """The `ner` and `relations` of a sentence whose first token is the document's token `start`."""
    entities = [(entity.label, entity.ranges) for entity in sentence.entities]
    fragments, links = take_apart(entities)
    written, read_back = Counter(entities), Counter(rebuild(fragments, links).entities)
    ledger.lost("entities that fragments cannot tell apart", (written - read_back).total())
    ledger.lost("entities invented when fragments are joined", (read_back - written).total())
    return (
        [[first + start, end - 1 + start, label] for (first, end), label in fragments],
        [[a + start, b - 1 + start, c + start, d - 1 + start, name] for (a, b), (c, d), name in links],
    )


def _graph(sentence: TokenSentence, known: Any, ledger: Ledger) -> Any:
    heads = sentence.sentence.heads
    if heads is None:
        return known
    nodes = to_neighbours(heads)
    ledger.lost("dependency labels of a sentence", sentence.sentence.relations is not None)
    ledger.lost("dependency trees that come back with another root", to_heads(nodes) != heads)
    return {"nodes": nodes}
