"""The sequence head: each word gets a sequence of labels, one for each entity that it belongs to, written by an LSTM.

Straková et al. (2019), "Neural Architectures for Nested NER through Linearization". All but `head` works without
torch.
"""

from disconer.nn.heads.sequence.kind import SEQUENCE

__all__ = ["SEQUENCE"]
