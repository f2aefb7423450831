"""CoNLL-U, read only: sentences, tokens, heads and relations; it knows no entities.

A multiword token (`1-2 don't` over the words `do` and `n't`) is one token, as its words have no offsets of their
own; its head and relation are those of its topmost word, so that what is left is a tree again. Empty nodes
(`1.1`) are not in the text and are skipped. Both are counted.

`# newdoc` starts a document; a file without it is one document. Sentences are joined by line breaks, paragraphs
(`# newpar`) by an empty line. `# sent_id` goes to `extras["conllu"]`.

The text of a sentence is its `# text` if the tokens occur there in order, else it is rebuilt from FORM and
SpaceAfter=No, and counted. Tokens are as in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from disconer.core.errors import BadInput, Where, excerpt
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence, Token
from disconer.core.types import Document
from disconer.formats.format import Format, member_reader
from disconer.formats.sentencewise import BOM, Block, blocks
from disconer.formats.source import Member
from disconer.text.syntax.parser import ROOT, depths_of

N_COLUMNS = 10
ROW_ID = re.compile(r"(?P<first>[1-9][0-9]{0,8})(?:-(?P<last>[0-9]{1,9}))?|(?P<empty>[0-9]+\.[0-9]+)")
_WORD_NUMBER = re.compile(r"[0-9]{1,9}")  # a longer number is not a position in any sentence
_FORM, _HEAD, _RELATION, _MISC = 1, 6, 7, 9
_OPEN = "_"


@dataclass(frozen=True, slots=True)
class SurfaceToken:
    """A token as the text shows it, and the words from `first` to `last` that it is made of."""

    form: str
    space_after: bool
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Surface:
    """The tokens of a sentence and, where all are known and form a tree, their heads and relations."""

    tokens: list[SurfaceToken]
    heads: tuple[int, ...] | None = None
    relations: tuple[str, ...] | None = None


def read_surface(block: Block, where: Where, ledger: Ledger) -> Surface:
    """The tokens of a sentence, its comments left out."""
    tokens: list[SurfaceToken] = []
    words: list[list[str]] = []
    for number, line in block:
        if line.startswith("#"):
            continue
        place = Where(where.path, number, document=where.document)
        columns = line.split("\t")
        id = ROW_ID.fullmatch(columns[0])
        if id is None or len(columns) != N_COLUMNS or not columns[_FORM]:
            raise _not_a_row(place, line)
        if id["empty"]:
            ledger.repaired("empty nodes skipped")
            continue
        first = int(id["first"]) - 1
        last = int(id["last"] or id["first"]) - 1
        if first != len(words) or last < first:
            raise _out_of_order(place, columns[0], len(words) + 1)
        ledger.repaired("multiword tokens kept as one", id["last"] is not None)
        if not tokens or first > tokens[-1].last:
            tokens.append(SurfaceToken(columns[_FORM], "SpaceAfter=No" not in columns[_MISC].split("|"), first, last))
        if id["last"] is None:
            words.append(columns)
    if tokens and tokens[-1].last >= len(words):
        raise _out_of_order(place, "the end of the sentence", len(words) + 1)
    return _with_tree(tokens, words, where, ledger)


def _not_a_row(where: Where, line: str) -> BadInput:
    return BadInput(
        "bad-syntax",
        "This is not a row of CoNLL-U",
        where=where,
        got=excerpt(line),
        expected=f"{N_COLUMNS} tab-separated columns, the first a number such as 1, 1-2 or 1.1, the second not empty",
    )


def _out_of_order(where: Where, got: str, number: int) -> BadInput:
    return BadInput(
        "bad-syntax",
        "The words of a sentence are not numbered consecutively",
        where=where,
        got=got,
        expected=f"word {number}",
    )


def _with_tree(tokens: list[SurfaceToken], words: Sequence[list[str]], where: Where, ledger: Ledger) -> Surface:
    open_heads = [columns[_HEAD] == _OPEN for columns in words]
    if all(open_heads):
        return Surface(tokens)
    heads = [_head(columns, len(words), where) for columns in words]
    depths = None if any(open_heads) else depths_of(heads)
    if depths is None:
        ledger.repaired("sentences left without heads, as theirs are incomplete or cyclic")
        return Surface(tokens)
    owner = {word: place for place, token in enumerate(tokens) for word in range(token.first, token.last + 1)}
    top = [min(range(token.first, token.last + 1), key=lambda word: depths[word]) for token in tokens]
    return Surface(
        tokens,
        tuple(ROOT if heads[word] == ROOT else owner[heads[word]] for word in top),
        tuple(words[word][_RELATION] for word in top),
    )


def _head(columns: list[str], n_words: int, where: Where) -> int:
    head = columns[_HEAD]
    if head == _OPEN:
        return ROOT
    if not _WORD_NUMBER.fullmatch(head) or int(head) > n_words:
        raise BadInput(
            "bad-syntax",
            "This word has no such head",
            where=where,
            got=f"head {excerpt(head)} of word {columns[0]} {excerpt(columns[_FORM])}",
            expected=f"0 for the root, or a word from 1 to {n_words}",
        )
    return int(head) - 1


SUFFIXES = (".conllu", ".conll", ".tsv", ".txt")
_NEW_DOCUMENT = ("newdoc id", "newdoc")
_NEW_PARAGRAPH = ("newpar id", "newpar")


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, group in enumerate(_documents(member), 1):
        try:
            yield _read_document(group, member, number, ledger)
        except BadInput as error:
            ledger.error(error)


def _documents(member: Member) -> Iterator[list[Block]]:
    document: list[Block] = []
    for block in blocks(member):
        if document and _says(_NEW_DOCUMENT, block):
            yield document
            document = []
        document.append(block)
    if document:
        yield document


def _comments(block: Block) -> dict[str, str]:
    """The values of a sentence's comments, by name: `# text = …`, `# newdoc id = …`, `# newpar`."""
    said = (line[1:].partition("=") for _, line in block if line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in said}


def _says(names: Sequence[str], block: Block) -> bool:
    return any(name in _comments(block) for name in names)


def _read_document(group: Sequence[Block], member: Member, number: int, ledger: Ledger) -> Document:
    numbered = f"{member.stem}-{number}" if _says(_NEW_DOCUMENT, group[0]) else member.stem
    id = _comments(group[0]).get("newdoc id") or numbered
    pieces: list[str] = []
    sentences: list[Sentence] = []
    sentence_ids: list[str | None] = []
    end = 0
    for block in group:
        comments = _comments(block)
        surface = read_surface(block, Where(member.origin, block[0][0], document=id), ledger)
        if sentences:
            pieces.append("\n\n" if _says(_NEW_PARAGRAPH, block) else "\n")
        start = end + len(pieces[-1]) if sentences else 0
        text, tokens = _place(surface.tokens, start, comments.get("text"), ledger)
        end = start + len(text)
        pieces.append(text)
        sentences.append(Sentence(start, end, tuple(tokens), surface.heads, surface.relations))
        sentence_ids.append(comments.get("sent_id"))
    extras = {"conllu": {"sent_id": sentence_ids}} if any(sentence_ids) else {}
    return Document(id, "".join(pieces), (), tuple(sentences), extras)


def _place(tokens: Sequence[SurfaceToken], start: int, text: str | None, ledger: Ledger) -> tuple[str, list[Token]]:
    """The text of a sentence, and the ranges of its tokens if it starts at `start`."""
    found = None if text is None else _find(tokens, text)
    if text is None or found is None:
        ledger.repaired("sentences whose # text differs from their tokens", text is not None)
        text, found = _join(tokens)
    return text, [Token(first + start, end + start) for first, end in found]


def _find(tokens: Sequence[SurfaceToken], text: str) -> list[Token] | None:
    """The ranges of tokens in a text that consists of them and whitespace, or None if it does not."""
    places = []
    position = 0
    for token in tokens:
        while text[position : position + 1].isspace():
            position += 1
        if not text.startswith(token.form, position):
            return None
        places.append(Token(position, position + len(token.form)))
        position += len(token.form)
    return places if not text[position:].strip() else None


def _join(tokens: Sequence[SurfaceToken]) -> tuple[str, list[Token]]:
    """The text made of forms and their spaces, and the ranges of the tokens in it."""
    pieces: list[str] = []
    places = []
    position = 0
    for token in tokens:
        places.append(Token(position, position + len(token.form)))
        space = " " if token.space_after and token is not tokens[-1] else ""
        pieces.append(token.form + space)
        position += len(pieces[-1])
    return "".join(pieces), places


def _sniff(name: str, head: bytes) -> bool:
    """The first row that is not a comment has CoNLL-U's columns."""
    for line in head.decode("utf-8", "ignore").removeprefix(BOM).split("\n"):
        if line.strip() and not line.startswith("#"):
            columns = line.split("\t")
            return len(columns) == N_COLUMNS and ROW_ID.fullmatch(columns[0]) is not None
    return False


FORMAT = Format(
    name="conllu",
    about="CoNLL-U: tokens, heads and relations, no entities",
    holds="sentences, tokens, dependency trees",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
)
