"""The transition head: actions that shift words on a stack of spans, join spans, and complete them as entities.

Dai et al. (2020), "An Effective Transition-based Model for Discontinuous NER". All but `head`, `network` and `decoding`
works without torch.
"""

from disconer.nn.heads.transition.kind import TRANSITION

__all__ = ["TRANSITION"]
