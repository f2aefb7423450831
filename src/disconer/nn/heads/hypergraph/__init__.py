"""The hypergraph head: for each word and label, the set of entities that start there, as a tree of choices.

After Muis and Lu (2016) and Wang and Lu (2018). All but `head` works without torch.
"""

from disconer.nn.heads.hypergraph.kind import HYPERGRAPH

__all__ = ["HYPERGRAPH"]
