"""`disconer parse`: syntactic heads for the sentences of any corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import progress, report
from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import format_for, format_named, read, write
from disconer.formats.target import refuse_existing
from disconer.text import SPLITTERS, TOKENIZERS, segment
from disconer.text.syntax.spec import BIOMEDICAL, FORMS

if TYPE_CHECKING:  # loaded when the verb runs, so that --help is quick
    from disconer.text.syntax.attach import Account, Syntax

CHARACTERS_AHEAD = 4_000_000  # of documents that are parsed together: enough for many processes, no trouble for memory


class Splitting(StrEnum):
    """The splitters by name."""

    RULES = "rules"
    LINES = "lines"


class Tokenizing(StrEnum):
    """The tokenizers by name."""

    WORDS = "words"
    WHITESPACE = "whitespace"


class Missing(StrEnum):
    """What to do about a sentence that gets no heads."""

    SKIP = "skip"
    ERROR = "error"


def parse(documents: Iterable[Document], syntax: Syntax, account: Account, *, anew: bool = False) -> Iterator[Document]:
    """Documents with the heads of their sentences, streaming.

    anew: heads that they bring along give way.
    """
    for chunk in _chunks(documents):
        yield from syntax([_bare(document) for document in chunk] if anew else chunk, account)


def _bare(document: Document) -> Document:
    sentences = document.sentences or ()
    return document.replace(sentences=tuple(replace(sentence, heads=None, relations=None) for sentence in sentences))


def _chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    chunk: list[Document] = []
    n_characters = 0
    for document in documents:
        chunk.append(document)
        n_characters += len(document.text)
        if n_characters >= CHARACTERS_AHEAD:
            yield chunk
            chunk, n_characters = [], 0
    if chunk:
        yield chunk


def parse_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File or folder to write; .jsonl keeps everything.")],
    parser: Annotated[
        str, typer.Option("--parser", metavar="P", help=f"Where heads come from: {FORMS.removeprefix('none, data, ')}.")
    ] = BIOMEDICAL,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; recognised if not given.")] = None,
    to_format: Annotated[str | None, typer.Option("--to", help="Format of OUT; by its suffix if not given.")] = None,
    splitter: Annotated[
        Splitting, typer.Option(help="Sentences, where SRC has none, as data.splitter in a configuration.")
    ] = Splitting.RULES,
    tokenizer: Annotated[Tokenizing, typer.Option(help="Words, likewise, as data.tokenizer.")] = Tokenizing.WORDS,
    missing: Annotated[
        Missing, typer.Option(help="A sentence that gets no heads: skip (goes on without, counted) or error.")
    ] = Missing.SKIP,
    anew: Annotated[bool, typer.Option("--anew", help="Parse sentences that have heads already, too.")] = False,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Keep trees on disk for the next time.")] = True,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Processes of a spaCy parser; by default a core each.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad input out and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT.")] = False,
) -> None:
    """Give the sentences of a corpus their syntactic heads and relations.

    Heads that SRC brings along stay. Native JSONL keeps heads; what other formats cannot say is counted.
    """
    from disconer.text.syntax.attach import Account
    from disconer.text.syntax.spec import make_syntax

    ledger, account = Ledger(skip_bad=skip_bad), Account()
    format_named(to_format) if to_format else format_for(target)  # a wrong name is said before any work
    refuse_existing(target, force)
    syntax = make_syntax(parser, missing=missing.value, cache=cache, processes=processes, track=progress)
    if syntax.parser is None:
        raise DisconerError(f"{parser!r} parses nothing", expected=f"one of {FORMS.removeprefix('none, data, ')}")
    documents = (
        segment(document, SPLITTERS[splitter.value], TOKENIZERS[tokenizer.value])
        for document in read(source, from_format, ledger)
    )
    write(_some(parse(documents, syntax, account, anew=anew), account, syntax), target, to_format, ledger, force=force)
    account.enter(ledger)
    typer.echo(f"{account.with_heads:,} of {account.sentences:,} sentences have heads.", err=True)
    report(ledger)


def _some(documents: Iterable[Document], account: Account, syntax: Syntax) -> Iterator[Document]:
    """Pass documents through; that no sentence of them all has heads is an error, before anything is written."""
    yield from documents
    if account.sentences and not account.with_heads:
        ((reason, _),) = account.without.most_common(1)
        raise DisconerError(
            f"The parser {syntax.parser.name if syntax.parser else ''} gave no tree for any of "
            f"{account.sentences:,} sentences",
            got=reason,
            fix="Choose another with --parser.",
        )
