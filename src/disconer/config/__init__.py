"""The configuration of a training run."""

from disconer.config.schema import (
    Config,
    DataConfig,
    EncoderConfig,
    GcnConfig,
    HeadConfig,
    LstmConfig,
    RelationConfig,
    ScorerConfig,
    SpanHeadConfig,
    SyntaxConfig,
    TrainingConfig,
)

__all__ = [
    "Config",
    "DataConfig",
    "EncoderConfig",
    "GcnConfig",
    "HeadConfig",
    "LstmConfig",
    "RelationConfig",
    "ScorerConfig",
    "SpanHeadConfig",
    "SyntaxConfig",
    "TrainingConfig",
]
