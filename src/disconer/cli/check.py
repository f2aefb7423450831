"""`disconer check`: errors and warnings of a corpus, and the best F1 that a model can reach on it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disconer.cli.console import progress, show
from disconer.core.errors import BadInput
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Kind
from disconer.formats import read_splits

if TYPE_CHECKING:
    from disconer.evaluate.check import Ceiling, Check  # loaded when the command runs, so that --help is fast
    from disconer.evaluate.measures import Counts
    from disconer.nn.heads.kind import HeadKind

DEFAULTS = "defaults"  # the name of the only settings of a head that has none to compare


def check_source(
    source: Path, *, from_format: str | None = None, head: str | None = None, settings: Sequence[str] = ()
) -> Check:
    """Check every document of `source`; errors are counted, not raised.

    head: the kind of head whose oracle is computed; None: the default.
    settings: those to compare; if empty, those that the kind compares by default.
    """
    from disconer.config import DEFAULT_HEAD
    from disconer.evaluate.check import check
    from disconer.nn.heads.kind import all_head_kinds, head_kind

    kind = head_kind(head or DEFAULT_HEAD)
    ceiling = _ceiling(kind, settings)
    heads = {one.name: ceiling if one.name == kind.name else _ceiling(one) for one in all_head_kinds()}
    ledger = Ledger(skip_bad=True)
    documents: Iterable[Document] = ()
    try:
        splits = read_splits(source, from_format, ledger)
        documents = progress(chain.from_iterable(splits.values()), "documents")
    except BadInput as error:  # the whole archive or file is unreadable
        ledger.error(error)
    return check(documents, ceiling, ledger, heads)


def _ceiling(kind: HeadKind[Any], settings: Sequence[str] = ()) -> Ceiling:
    """The oracles of a kind of head; without settings, of those that it compares by default."""
    from disconer.config import load_head
    from disconer.evaluate.check import Ceiling

    compared = {name: load_head(kind.name, [name]) for name in settings or kind.variants}
    compared = compared or {DEFAULTS: load_head(kind.name)}
    return Ceiling({name: partial(kind.reach, settings=chosen) for name, chosen in compared.items()})


def check_cli(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File, folder, .zip or .gz to read.")],
    from_format: Annotated[str | None, typer.Option("--from", help="Format of SRC; detected if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    head: Annotated[
        str | None,
        typer.Option("--head", help="Kind of head for the oracle, such as tagger; grid by default."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the head for the oracle, such as reach=24; repeat it to compare several.",
        ),
    ] = None,
) -> None:
    """Check a corpus for errors, and compute the best F1 that a model can reach on it.

    Errors make an entity or document unusable: offsets past the end, text that does not match, broken files. Warnings
    are entities that can be used but look wrong. The oracle encodes the gold entities as training targets of a head and
    decodes them again: no model with that head and its settings can do better. Entities count under the kind that
    they have in the corpus. The last line compares all heads.

    The exit code is 1 if there are errors, else 0.
    """
    account = check_source(source, from_format=from_format, head=head, settings=settings or ())
    if as_json:
        print(json.dumps(account.to_dict(), ensure_ascii=False, indent=1))
    else:
        _print(source, account, head)
    if account.has_errors:
        raise typer.Exit(1)


def _print(source: Path, account: Check, head: str | None) -> None:
    sections = [
        [["documents", f"{account.documents:,}"], ["entities", f"{account.entities:,}"], *_head_rows(account)],
        _count_rows("errors", account.ledger.errors),
        _count_rows("normalised on reading", account.ledger.repairs),
        _count_rows("warnings: an entity", account.warnings),
    ]
    show(str(source), ["", "count"], sections)
    for example in account.examples:
        print(f"{example.problem}: {example.message}" if example.problem in account.ledger.errors else example.message)
    if account.entities:
        print()
        columns = ["", "precision", "recall", "F1", *(f"{kind} F1" for kind in Kind), "missed", "spurious"]
        title = f"a head of kind {head}" if head else "a model"
        show(f"oracle: the best that {title} can reach", columns, [_oracle_rows(account)])
        print(f"Best F1 by head: {'; '.join(_head_words(account))}.")


def _head_words(account: Check) -> Iterator[str]:
    """What each kind of head can reach, the best first, with settings unless it has none to compare."""
    for head, (settings, f1) in sorted(account.best_settings().items(), key=lambda one: -one[1][1]):
        yield f"{head} {100 * f1:.2f}" + ("" if settings == DEFAULTS else f" ({settings})")


def _head_rows(account: Check) -> Iterator[list[str]]:
    """How many sentences have dependency heads, if any do."""
    if account.sentences_with_heads:
        yield ["sentences with heads", f"{account.sentences_with_heads:,} of {account.sentences:,}"]


def _count_rows(title: str, counts: Counter[str]) -> list[list[str]]:
    if not counts:
        return [[f"{title.partition(':')[0]}: none", ""]]
    return [[title, ""], *([f"  {what}", f"{times:,}"] for what, times in counts.most_common())]


def _oracle_rows(account: Check) -> Iterator[list[str]]:
    ceiling = account.ceiling
    for name in ceiling.names:
        total, kinds = ceiling.total(name), ceiling.counts[name]
        yield [
            name,
            *(f"{100 * value:.2f}" for value in (total.precision, total.recall, total.f1)),
            *(_f1(kinds.get(kind)) for kind in Kind),
            f"{ceiling.lost[name].total():,}",
            f"{ceiling.extra[name]:,}",
        ]


def _f1(counts: Counts | None) -> str:
    return f"{100 * counts.f1:.2f}" if counts else "-"
