"""The tagger: one tag per word, chosen by a linear-chain CRF; a scheme turns entities into tags and back.

All but `head`, `multilabel_head` and `crf` works without torch.
"""

from disconer.nn.heads.tagger.kind import TAGGER

__all__ = ["TAGGER"]
