"""The configuration of a training run: its schema, and YAML files, presets and overrides that fill it.

May import `core`, `text` and `formats`. No torch.
"""

from disconer.config.load import config_from_dict, dump_config, load_config, preset_names, preset_text
from disconer.config.problems import ConfigError
from disconer.config.schema import (
    CharacterConfig,
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
    "CharacterConfig",
    "Config",
    "ConfigError",
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
    "config_from_dict",
    "dump_config",
    "load_config",
    "preset_names",
    "preset_text",
]
