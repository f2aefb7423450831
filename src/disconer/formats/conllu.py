"""CoNLL-U, read only: sentences, tokens, heads and relations; it knows no entities.

`# newdoc` starts a document; a file without is one. Sentences are joined by line breaks, paragraphs (`# newpar`)
by an empty line. `# sent_id` goes to `extras["conllu"]`.

The text of a sentence is its `# text` where the tokens stand there one after another, else it is put together
from FORM and SpaceAfter=No, and counted. Tokens are what the text shows: see `conllu_words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from disconer.core.errors import BadInput, Where
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Sentence, Token
from disconer.formats.blocks import Block, blocks
from disconer.formats.conllu_words import N_COLUMNS, ROW_ID, SurfaceToken, read_surface
from disconer.formats.format import Format, member_reader
from disconer.formats.sentencewise import BOM
from disconer.formats.source import Member

SUFFIXES = (".conllu", ".conll", ".tsv", ".txt")
_NEW_DOCUMENT = ("newdoc id", "newdoc")
_NEW_PARAGRAPH = ("newpar id", "newpar")


def _read(member: Member, ledger: Ledger) -> Iterator[Document]:
    for number, group in enumerate(_documents(member), 1):
        try:
            yield _read_document(group, member, number, ledger)
        except BadInput as error:
            ledger.fault(error)


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
    """What the comments of a sentence say, by name: `# text = …`, `# newdoc id = …`, `# newpar`."""
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
    """The text of a sentence, and where its tokens stand if it starts at `start`."""
    found = None if text is None else _find(tokens, text)
    if text is None or found is None:
        ledger.repaired("sentences whose # text is not that of their tokens", text is not None)
        text, found = _join(tokens)
    return text, [Token(first + start, end + start) for first, end in found]


def _find(tokens: Sequence[SurfaceToken], text: str) -> list[Token] | None:
    """Where tokens stand in a text that is nothing but them and whitespace, or None if it is not."""
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
    """The text that forms and their spaces amount to, and where the tokens stand in it."""
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
    """The first row that is no comment has CoNLL-U's columns."""
    for line in head.decode("utf-8", "ignore").removeprefix(BOM).split("\n"):
        if line.strip() and not line.startswith("#"):
            columns = line.split("\t")
            return len(columns) == N_COLUMNS and ROW_ID.fullmatch(columns[0]) is not None
    return False


FORMAT = Format(
    name="conllu",
    about="CoNLL-U: tokens, heads and relations, no entities; read only",
    suffixes=SUFFIXES,
    sniff=_sniff,
    read=member_reader(SUFFIXES, _read),
)
