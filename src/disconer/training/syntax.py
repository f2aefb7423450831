"""Dependency heads for the documents of a run, if the model uses them."""

from __future__ import annotations

from disconer.config import SyntaxConfig
from disconer.core.errors import DisconerError
from disconer.core.progress import progress
from disconer.text.syntax.attach import Account, untracked
from disconer.text.syntax.spec import make_syntax
from disconer.training.data import TrainingData
from disconer.training.display import Display


def with_heads(data: TrainingData, config: SyntaxConfig, display: Display) -> TrainingData:
    """The documents with dependency heads as configured; it is an error if no sentence gets any."""
    if not config.needed:
        return data
    track = untracked if display.quiet else progress
    syntax = make_syntax(config.parser, missing=config.missing, track=track)
    account = Account()
    train = syntax(data.train, account)
    if not account.with_heads:
        reasons = "; ".join(f"{times:,} sentences: {reason}" for reason, times in account.without.most_common())
        raise DisconerError(
            "The model has a graph convolution, but no training sentence has dependency heads",
            got=reasons or "no sentences",
            fix="Choose a parser (syntax.parser), or disable the convolution (syntax.gcn: null).",
        )
    dev = syntax(data.dev, account)
    test = None if data.test is None else syntax(data.test, account)
    display.notes(account.lines())
    return TrainingData(train, dev, test, data.labels)
