"""CoNLL columns: one token per line, the word first and the label last; an empty line after each sentence.

    -DOCSTART- (note-1)	O

    Severe	B-ADR
    pain	I-ADR

Written in three schemes (`bio_schemes`), columns separated by a tab. Read in any scheme, separated by tabs or spaces;
columns between the first and the last, and comments before a sentence, are ignored, but labels in them are counted. If
the first column numbers the words of each sentence, the word is the second. Each sentence is a document until
the first `-DOCSTART-`; from there on, each `-DOCSTART-` starts a document. The id in brackets is our addition, which
other readers ignore; it is written for every document, so that predictions can be compared with gold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats.bio_schemes import SCHEMES, Key, Scheme, TooMany, bio, decode, parse
from disconer.formats.format import Format, member_reader
from disconer.formats.seen_ids import SeenIds, distinct_id
from disconer.formats.sentencewise import (
    BOM,
    Block,
    Mention,
    TokenSentence,
    WordSentence,
    blocks,
    from_words,
    plain,
    text_writer,
    to_sentences,
)
from disconer.formats.source import Member

_SUFFIXES = {
    "bio": (".bio", ".conll", ".iob", ".iob2", ".tsv", ".txt"),
    "bioes": (".bioes", ".iobes"),
    "biohd": (".biohd",),
}
_READ_SUFFIXES = tuple(suffix for suffixes in _SUFFIXES.values() for suffix in suffixes)
_ABOUT = {
    "bio": "CoNLL columns, B- and I- labels",
    "bioes": "CoNLL columns, labels that also mark ends (E-) and single tokens (S-)",
    "biohd": "CoNLL columns, labels that mark parts of discontinuous entities (H, D)",
}
_HOLDS = {
    "bio": "continuous entities that do not overlap",
    "bioes": "continuous entities that do not overlap",
    "biohd": "most entities of a sentence",
}
_DOCUMENT_START = re.compile(r"-DOCSTART-(?!\S)(?:\s+\((?P<id>.+)\))?")
_BEGIN_OR_SINGLE = re.compile(r"[BSU]-\S")
_SEVERAL = re.compile(r"\|(?=[BIESLUMW]-\S|O$)")  # B-ADR|B-Drug
_NOT_IN_LABELS = re.compile(rf"\s+|{_SEVERAL.pattern}")
_NO_TOKENS = ("#", "-DOCSTART-")  # how comments and the starts of documents begin
_SPACE = re.compile(r"\s+")
_NOT_IN_IDS = re.compile(r"[^\S ]+")
_LINES_SNIFFED = 200
_PROSE_LINES = 3  # fewer lines than this may look like columns by chance


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    word_column = int(_numbers_words(member))
    for number, (id, group) in enumerate(_documents(member), 1):
        try:
            sentences = [_read_sentence(block, member.origin, word_column, ledger) for block in group]
            where = Where(member.origin, group[0][0][0] if group else None)
            yield from_words(id or f"{member.stem}-{number}", sentences, where, ledger)
        except BadInput as error:
            ledger.error(error)


def _documents(member: Member) -> Iterator[tuple[str | None, list[Block]]]:
    """The sentences of each document, and its id if it has one."""
    id: str | None = None
    document: list[Block] | None = None  # the one that a -DOCSTART- started
    for block in blocks(member):
        start = _DOCUMENT_START.match(block[0][1])
        if start:
            if document is not None:
                yield id, document
            id, document = start["id"], []
            block = block[1:]
        if document is None:
            yield None, [block]
        elif block:
            document.append(block)
    if document is not None:
        yield id, document


def _read_sentence(block: Block, path: str, word_column: int, ledger: Ledger) -> WordSentence:
    words: list[str] = []
    labels: list[str] = []
    n_other_labels = 0
    for number, line in block:
        columns = _columns(line)
        word, label = "".join(columns[word_column : word_column + 1]), _label(columns)
        if not labels and line.startswith("#") and parse(label) is None:
            continue  # a comment before the sentence
        if not word or parse(label) is None:
            raise BadInput(
                "bad-syntax",
                "This line is not a token with its label",
                where=Where(path, number),
                got=excerpt(line),
                expected="a word, further columns if any, and O or a label such as B-Drug",
                fix="Check that the label is the last column.",
            )
        if _SEVERAL.search(label):
            raise BadInput(
                "bad-syntax",
                "This word has several labels",
                where=Where(path, number),
                got=excerpt(line),
                expected="one label in a column",
                fix="Give overlapping entities in a format that holds them, such as native JSONL or W2NER's JSON.",
            )
        words.append(word)
        labels.append(label)
        n_other_labels += any(map(_BEGIN_OR_SINGLE.match, columns[word_column + 1 : -1]))
    ledger.lost("words with labels in columns before the last", n_other_labels)
    try:
        entities = decode(labels)
    except TooMany as error:
        where = Where(path, block[0][0])
        raise BadInput("bad-syntax", "A sentence has too many parts to join", where=where, got=str(error)) from error
    return WordSentence(words, [Mention(label, ranges) for label, ranges in entities])


def _columns(line: str) -> list[str]:
    return line.rstrip().split("\t") if "\t" in line else [part for part in line.split(" ") if part]


def _label(columns: Sequence[str]) -> str:
    """The last column; empty if there is only one."""
    return columns[-1].strip() if len(columns) > 1 else ""


def _numbers_words(member: Member) -> bool:
    """Whether the first of three or more columns counts the words of each sentence, as in the files of GermEval."""
    sentences: list[list[str]] = [[]]
    for line in _first_lines(member.head()):
        columns = _columns(line)
        if not line.strip():
            sentences.append([])
        elif not line.startswith(_NO_TOKENS):
            sentences[-1].append(columns[0] if len(columns) > 2 else "")
    counts = any(len(sentence) > 1 for sentence in sentences)
    return counts and all(sentence == [str(n) for n in range(1, len(sentence) + 1)] for sentence in sentences)


def _first_lines(head: bytes) -> list[str]:
    """Complete lines: the last one may be cut."""
    return head.decode("utf-8", "ignore").removeprefix(BOM).split("\n")[:_LINES_SNIFFED][:-1]


def _write(documents: Iterable[Document], ledger: Ledger, *, scheme: Scheme) -> Iterator[str]:
    seen = SeenIds()
    for document in documents:
        sentences = to_sentences(document, ledger)
        ledger.lost("dependency trees", sum(sentence.sentence.heads is not None for sentence in sentences))
        ledger.lost("sentences without words", sum(not sentence.words for sentence in sentences))
        sentences = [sentence for sentence in sentences if sentence.words]
        id = distinct_id(plain(document.id, _NOT_IN_IDS, "document ids", ledger), seen, ledger)
        yield f"-DOCSTART- ({id})\tO\n\n"
        for sentence in sentences:
            yield _sentence_text(sentence, scheme, ledger)


def _sentence_text(sentence: TokenSentence, scheme: Scheme, ledger: Ledger) -> str:
    words = [plain(word, _SPACE, "words", ledger) for word in sentence.words]
    if _DOCUMENT_START.match(words[0]):  # a word of the text, which would start a document when read back
        words[0] = f"_{words[0]}"
        ledger.lost("words rewritten")
    entities = [(plain(entity.label, _NOT_IN_LABELS, "labels", ledger), entity.ranges) for entity in sentence.entities]
    labels = scheme(list(dict.fromkeys(entities)), len(words))
    try:
        read_back = decode(labels)
    except TooMany:  # no reader would join them: of this sentence, only what needs no joining is written
        labels = bio([entity for entity in entities if len(entity[1]) == 1], len(words))
        read_back = decode(labels)
    _note_losses(entities, read_back, ledger)
    return "".join(f"{word}\t{label}\n" for word, label in zip(words, labels, strict=True)) + "\n"


def _note_losses(entities: Sequence[Key], read_back: Iterable[Key], ledger: Ledger) -> None:
    """Count the entities that are not read back, by kind and what became of them, and those that were never written."""
    written, found = Counter(entities), Counter(read_back)
    invented = found - written
    ledger.lost("repeated entities dropped", written.total() - len(written))
    for label, ranges in written.keys() - found.keys():
        stretch = (label, ((ranges[0][0], ranges[-1][1]),))
        if len(ranges) == 1:
            ledger.lost("overlapped entities dropped")
        elif invented[stretch]:
            invented[stretch] -= 1
            ledger.lost("discontinuous entities flattened")
        else:
            ledger.lost("discontinuous entities dropped")
    ledger.lost("entities invented by the scheme", invented.total())


def _sniff(name: str, head: bytes) -> bool:
    """Every line of the head is a token with its label, and all have the same number of columns.

    A .txt needs more evidence, as a line of prose may end in "vitamin B-12".
    """
    tokens = [line for line in _first_lines(head) if line.strip() and not line.startswith(_NO_TOKENS)]
    labels = [_label(_columns(line)) for line in tokens]
    n_columns = {len(line.split("\t") if "\t" in line else line.split()) for line in tokens}
    if name.lower().endswith(".txt") and (len(tokens) < _PROSE_LINES or not any("-" in label for label in labels)):
        return False
    return len(n_columns) == 1 and all(parse(label) for label in labels)


def _format(name: str) -> Format:
    return Format(
        name=name,
        about=_ABOUT[name],
        holds=_HOLDS[name],
        suffixes=_SUFFIXES[name],
        sniff=_sniff,
        read=member_reader(_READ_SUFFIXES, _read),
        write=text_writer(partial(_write, scheme=SCHEMES[name])),
    )


BIO, BIOES, BIOHD = map(_format, ("bio", "bioes", "biohd"))
