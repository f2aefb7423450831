"""The span head of the paper: spans are classified, then pairs of them, and entities are maximal cliques.

All but `head` and `scorers` works without torch.
"""

from disconer.nn.heads.span.kind import SPAN

__all__ = ["SPAN"]
