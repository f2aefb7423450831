"""`disconer parse`: dependency heads for the sentences of any corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.console import progress, report
from disconer.cli.outputs import named_output
from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.types import Document
from disconer.formats import format_for, format_named, read, write
from disconer.formats.target import refuse_existing
from disconer.text import SplitterName, segmenter
from disconer.text.syntax.spec import BIOMEDICAL, FORMS
from disconer.text.unused_splitter import UnusedSplitter

if TYPE_CHECKING:  # loaded when the command runs, so that --help is fast
    from disconer.text.syntax.attach import Account, Syntax

CHARACTERS_AHEAD = 4_000_000  # parsed together: enough for many processes, little memory


class Tokenizing(StrEnum):
    """The tokenizers by name."""

    WORDS = "words"
    WHITESPACE = "whitespace"


class Missing(StrEnum):
    """What to do with a sentence that cannot be parsed."""

    SKIP = "skip"
    ERROR = "error"


def parse(
    documents: Iterable[Document], syntax: Syntax, account: Account, *, replace: bool = False
) -> Iterator[Document]:
    """Documents with the heads of their sentences, streaming.

    replace: parse sentences that already have heads, too.
    """
    for chunk in _chunks(documents):
        yield from syntax([_bare(document) for document in chunk] if replace else chunk, account)


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
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="File or folder to write, also as -o OUT; .jsonl keeps everything.")
    ],
    parser: Annotated[
        str, typer.Option("--parser", metavar="P", help=f"Dependency parser: {FORMS.removeprefix('none, data, ')}.")
    ] = BIOMEDICAL,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT; taken from its suffix if not given.")
    ] = None,
    splitter: Annotated[
        SplitterName | None,
        typer.Option(help="Sentence splitter if SRC has no sentences; default: rules. See data.splitter."),
    ] = None,
    tokenizer: Annotated[
        Tokenizing, typer.Option(help="Tokenizer if SRC has no tokens; see data.tokenizer.")
    ] = Tokenizing.WORDS,
    missing: Annotated[
        Missing, typer.Option(help="Sentences that cannot be parsed: skip (keep without heads, counted) or error.")
    ] = Missing.SKIP,
    replace: Annotated[bool, typer.Option("--replace", help="Also parse sentences that already have heads.")] = False,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Cache trees on disk.")] = True,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Processes of a spaCy parser; default: one per core.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip invalid input and count it.")] = False,
    force: Annotated[bool, typer.Option("--force", "--overwrite", help="Overwrite OUT.")] = False,
) -> None:
    """Add dependency heads and relations to the sentences of a corpus.

    Existing heads are kept. Native JSONL stores heads; what other formats cannot represent is counted.
    """
    from disconer.text.syntax.attach import Account
    from disconer.text.syntax.spec import make_syntax

    ledger, account, out = Ledger(skip_bad=skip_bad), Account(), named_output(target)
    format_named(to_format) if to_format else format_for(out)  # report a wrong name before any work
    refuse_existing(out, force)
    syntax = make_syntax(parser, missing=missing.value, cache=cache, processes=processes, track=progress)
    if syntax.parser is None:
        raise DisconerError(f"{parser!r} parses nothing", expected=f"one of {FORMS.removeprefix('none, data, ')}")
    given = UnusedSplitter(splitter).passing(read(source, from_format, ledger))
    documents = map(segmenter(splitter or "rules", tokenizer.value), given)
    write(
        _some(parse(documents, syntax, account, replace=replace), account, syntax),
        out,
        to_format,
        ledger,
        force=force,
    )
    account.enter(ledger)
    typer.echo(f"{account.with_heads:,} of {account.sentences:,} sentences have heads.", err=True)
    report(ledger)


def _some(documents: Iterable[Document], account: Account, syntax: Syntax) -> Iterator[Document]:
    """Pass documents through; it is an error if none of their sentences has heads, before anything is written."""
    yield from documents
    if account.sentences and not account.with_heads:
        ((reason, _),) = account.without.most_common(1)
        raise syntax.no_trees(account.sentences, reason)
