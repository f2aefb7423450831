"""Training: from a configuration and data to a model folder.

May import `runs`, `predict`, `store` and all below, not `adapt`.
"""

from disconer.training.training_run import TrainingResult, train

__all__ = ["TrainingResult", "train"]
