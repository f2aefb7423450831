"""The account that reading and writing keep: what was at fault, what was put right, what was lost."""

from __future__ import annotations

from collections import Counter

from disconer.core.errors import BadInput

EXAMPLES = 20  # faults kept in full, so that a million of them need no memory


class Ledger:
    """Counts faults, repairs and losses while documents stream by.

    faults: input that cannot be taken. The first one is raised, unless `skip_bad`: then the entity or
        document at fault is left out and counted by its problem class.
    repairs: input taken after normalisation (fragments out of order, touching, …).
    losses: what the format written to cannot say (discontinuous entities in BIO, …).
    """

    def __init__(self, *, skip_bad: bool = False) -> None:
        self.skip_bad = skip_bad
        self.faults: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self.losses: Counter[str] = Counter()
        self.examples: list[BadInput] = []

    def fault(self, error: BadInput) -> None:
        """Raise `error`, or count it and return when bad input is to be skipped."""
        if not self.skip_bad:
            raise error
        self.faults[error.problem] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(error)

    def repaired(self, what: str, times: int = 1) -> None:
        if times:
            self.repairs[what] += times

    def lost(self, what: str, times: int = 1) -> None:
        if times:
            self.losses[what] += times

    def taken(self) -> Ledger:
        """What was counted so far, which is forgotten here."""
        own = Ledger(skip_bad=self.skip_bad)
        own.add(self)
        for counts in (self.faults, self.repairs, self.losses, self.examples):
            counts.clear()
        return own

    def add(self, other: Ledger) -> None:
        """Take over what another one counted."""
        self.faults += other.faults
        self.repairs += other.repairs
        self.losses += other.losses
        self.examples += other.examples[: EXAMPLES - len(self.examples)]
