"""What verbs share in talking to people: progress and accounts on stderr, results on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from disconer.ledger import Ledger

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Pass items through and count them on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, total=total, console=Console(stderr=True), transient=True)


def report(ledger: Ledger) -> None:
    """Say on stderr what was skipped, put right and lost."""
    for error in ledger.examples:
        print(f"skipped: {error}", file=sys.stderr)
    hidden = ledger.faults.total() - len(ledger.examples)
    if hidden > 0:
        print(f"skipped: {hidden} more", file=sys.stderr)
    for heading, counts in (("skipped", ledger.faults), ("normalised", ledger.repairs), ("lost", ledger.losses)):
        if counts:
            listed = ", ".join(f"{count} {what}" for what, count in counts.most_common())
            print(f"{heading}: {listed}", file=sys.stderr)
