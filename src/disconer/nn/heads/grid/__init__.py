"""The grid head: pairs of words are scored, for the entities that stretch between them and for steps within entities.

Li et al. (2022), "Unified Named Entity Recognition as Word-Word Relation Classification", and further. All but the
network (`pair_grid`, `head`, `pair_graph`) works without torch.
"""

from disconer.nn.heads.grid.kind import GRID

__all__ = ["GRID"]
