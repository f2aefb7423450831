"""What verbs share in talking to people: progress and accounts on stderr, results on stdout."""

from __future__ import annotations

import sys

from disconer.core.ledger import Ledger
from disconer.core.progress import progress

__all__ = ["progress", "report"]


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
