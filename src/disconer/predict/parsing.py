"""Dependency heads for a model that uses them: attached before its prediction, and warned of where they are missing."""

from __future__ import annotations

import warnings

from disconer.core.errors import DisconerWarning
from disconer.core.types import Document
from disconer.text.syntax.attach import Account, Syntax

WITHOUT_HEADS = "Some sentences have no dependency heads, which this model uses"
ADVICE = "Predictions without them are less accurate; another parser may help (parser=…, or --parser)."


def with_heads(documents: list[Document], syntax: Syntax, account: Account) -> list[Document]:
    """The documents with heads, which are counted. A reason for missing heads causes a warning when it is new."""
    known = set(account.without)
    parsed = syntax(documents, account)
    for reason in account.without.keys() - known:
        warnings.warn(f"{WITHOUT_HEADS}: {reason}. {ADVICE}", DisconerWarning, stacklevel=2)
    return parsed
