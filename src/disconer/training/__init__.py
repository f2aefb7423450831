"""Training: from a configuration and data to a model folder."""

from disconer.training.run import TrainingResult, train

__all__ = ["TrainingResult", "train"]
