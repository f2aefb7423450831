"""The combined head: the actions of the transition head, chosen with the evidence of the span head.

It is made of both, the only head that knows others. All but `head` and `evidence` works without torch.
"""

from disconer.nn.heads.combined.kind import COMBINED

__all__ = ["COMBINED"]
