"""DyGIE++'s JSON lines (Wadden et al. 2019), and sodner's use of them (Li et al. 2021): one document per line.

{"doc_key": "d1", "sentences": [["Severe", "joint", "and", "neck", "pain"]], "ner": [[[0, 1, "ADR"], [4, 4, "ADR"]]],
 "relations": [[[0, 1, 4, 4, "Combined"], [4, 4, 0, 1, "Combined"]]], "dep": [{"nodes": [[4], [4], …]}]}

Positions count tokens from the start of the document, inclusive. Plain DyGIE++ knows continuous entities only;
sodner stores fragments and their relations (`fragments`) and the dependency graph (`trees`). All
else (clusters, events, other relations, graphs that are not trees) goes to `extras["dygie"]` and comes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, BinaryIO

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.dygie.fragments import (
    COMBINED,
    OVERLAP,
    Fragment,
    Relation,
    rebuild,
    take_apart,
    to_heads,
    to_neighbours,
)
from disconer.formats.extras import carried
from disconer.formats.format import Format, member_reader, stream_writer
from disconer.formats.jsonfiles import dump_json, field, iter_records, leading_keys
from disconer.formats.sentencewise import Mention, TokenSentence, WordSentence, check_words, from_words, to_sentences
from disconer.formats.source import Member
from disconer.text.fragment_graph import MOST_CLIQUES

N_TOKENS = "n_tokens"  # of each sentence: what extras say of positions holds as long as these are the tokens
_OWN_KEYS = ("doc_key", "sentences", "ner", "relations", "dep")


def read_member(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, (where, record) in enumerate(iter_records(member, ledger), 1):
        try:
            id = field(record, "doc_key", str, where, default="") or f"{member.stem}-{number}"
            yield _read_record(record, id, Where(where.path, where.line, document=id), ledger)
        except BadInput as error:
            ledger.error(error)


def _read_record(record: dict[str, Any], id: str, where: Where, ledger: Ledger) -> Document:
    sentences = field(record, "sentences", list, where)
    for words in sentences:
        check_words(words, where)
    starts = accumulate((len(words) for words in sentences[:-1]), initial=0)
    per_sentence = (_per_sentence(record, name, len(sentences), where) for name in ("ner", "relations", "dep"))
    found = []
    kept: dict[str, list[Any]] = {"relations": [], "dep": []}
    for words, start, ner, relations, graph in zip(sentences, starts, *per_sentence, strict=False):
        fragments = list(_read_fragments(ner, start, where, ledger))
        links, other_links = _read_relations(relations, start, where, ledger)
        heads = _read_heads(graph, len(words), where)
        found.append(WordSentence(words, _rebuild(fragments, links, ledger), heads))
        kept["relations"].append(other_links)
        kept["dep"].append({} if heads is not None else graph)
    others = {key: value for key, value in record.items() if key not in _OWN_KEYS}
    others |= {name: values for name, values in kept.items() if any(values)}
    others |= {N_TOKENS: [len(words) for words in sentences]} if others else {}
    return from_words(id, found, where, ledger, {"dygie": others} if others else None)


def _per_sentence(record: dict[str, Any], name: str, n_sentences: int, where: Where) -> list[Any]:
    items: list[Any] = field(record, name, list, where, default=[[]] * n_sentences)
    if len(items) != n_sentences:
        raise BadInput(
            "bad-syntax",
            f"The field {name!r} does not fit the sentences",
            where=where,
            got=f"{len(items)} items for {n_sentences} sentences",
            expected="one item per sentence, possibly empty",
        )
    if name != "dep" and not all(isinstance(item, list) for item in items):
        raise _not_a(f"list of {name}", items, "an array of arrays, one per sentence", where)
    return items


def _read_fragments(ner: list[Any], start: int, where: Where, ledger: Ledger) -> Iterator[Fragment]:
    """The fragments of a sentence; scores after the label, as in predictions, are ignored."""
    for item in ner:
        match item:
            case [int(first), int(last), str(label), *_] if label and bool not in map(type, item[:2]):
                yield (first - start, last + 1 - start), label
            case _:
                ledger.error(_not_a("mention", item, "[first token, last token, label]", where))


def _read_relations(
    relations: list[Any], start: int, where: Where, ledger: Ledger
) -> tuple[list[Relation], list[list[Any]]]:
    """The relations between fragments, and those between entities as the file has them."""
    links, others = [], []
    for item in relations:
        match item:
            case [int(a), int(b), int(c), int(d), str(name), *_] if bool not in map(type, item[:4]):
                if name in (COMBINED, OVERLAP):
                    links.append(((a - start, b + 1 - start), (c - start, d + 1 - start), name))
                else:
                    others.append(item)
            case _:
                ledger.error(_not_a("relation", item, "[first, last, first, last, label]", where))
    return links, others


def _not_a(what: str, item: Any, expected: str, where: Where) -> BadInput:
    return BadInput("bad-syntax", f"This is not a {what}", where=where, got=excerpt(item), expected=expected)


def _read_heads(graph: Any, n_words: int, where: Where) -> tuple[int, ...] | None:
    """The heads of a sentence, or None if it has no graph, one that is not a tree, or one of other tokens.

    sodner lists the tokens of its parser, which need not be the sentence's.
    """
    try:
        nodes = graph.get("nodes", ()) if graph else ()
        if not all(type(neighbour) is int for node in nodes for neighbour in node):
            raise TypeError
        return to_heads(nodes) if nodes and len(nodes) == n_words else None
    except (TypeError, AttributeError):
        raise _not_a("dependency graph", graph, '{"nodes": [[neighbours of the first token], …]}', where) from None


def _rebuild(fragments: list[Fragment], links: list[Relation], ledger: Ledger) -> list[Mention]:
    rebuilt = rebuild(fragments, links)
    ledger.repaired("entities rebuilt from ambiguous fragments", rebuilt.n_doubtful)
    ledger.repaired("Combined relations that join nothing", rebuilt.n_unused)
    ledger.lost(f"sentences with more than {MOST_CLIQUES:,} entities of one label, the others", rebuilt.n_cut)
    return [Mention(label, ranges) for label, ranges in rebuilt.entities]


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
            ledger.lost("documents' dygie extras", bool(kept))  # their positions count tokens that no longer exist
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


SUFFIXES = (".jsonl", ".json", ".dygie")


def _sniff(name: str, head: bytes) -> bool:
    keys = leading_keys(head)
    return "sentences" in keys and "text" not in keys and bool(keys & {"doc_key", "ner"})


FORMAT = Format(
    name="dygie",
    about="DyGIE++ and sodner: JSON lines, document-level token positions, fragments with Combined relations",
    holds="nearly all entities of a sentence, relations, trees",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, read_member),
    write=stream_writer(write_stream),
)
