"""The account of parsing: how many sentences have trees, and why the others have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from disconer.core.ledger import Ledger

DROPPED = "sentences whose heads in the data are no tree, so they were left aside: "
WITHOUT = "sentences without heads: "


@dataclass(slots=True)
class Account:
    """Counts of sentences.

    kept: had heads. given: got them, from the parser or from the cache.
    asked: distinct sentences that the parser was given, as the cache had none of them.
    forests: have several roots. realigned: were cut into other words by the parser.
    dropped: had heads that are no tree, by what is wrong. without: have no heads in the end, by reason.
    """

    kept: int = 0
    given: int = 0
    asked: int = 0
    forests: int = 0
    realigned: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)

    @property
    def with_heads(self) -> int:
        return self.kept + self.given

    @property
    def sentences(self) -> int:
        return self.with_heads + self.without.total()

    def lines(self) -> Iterator[str]:
        """The account in words, a fact a line; what did not happen is left out."""
        if not self.sentences:
            return
        yield (
            f"syntax: {self.with_heads:,} of {self.sentences:,} sentences have heads "
            f"({self.kept:,} brought them along, {self.asked:,} were parsed now)"
        )
        ledger = Ledger()
        self.enter(ledger)
        for counts in (ledger.repairs, ledger.losses):
            for what, times in counts.most_common():
                yield f"syntax: {times:,} {what}"

    def enter(self, ledger: Ledger) -> None:
        """Add to a ledger what was put right and what is missing."""
        ledger.repaired("sentences with several roots, kept as they are", self.forests)
        ledger.repaired("sentences that the parser cut into other words, aligned by characters", self.realigned)
        for fault, times in self.dropped.items():
            ledger.repaired(DROPPED + fault, times)
        for reason, times in self.without.items():
            ledger.lost(WITHOUT + reason, times)
