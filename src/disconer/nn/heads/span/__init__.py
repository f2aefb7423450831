"""The span head of the paper: spans are classified, then pairs of them, and entities are maximal cliques.

Targets, decisions, reading and the oracle need no torch.
"""
