"""The configuration of a training run: its schema, and YAML files, presets and overrides that fill it.

May import `core`, `text` and `formats`. No torch.
"""

from disconer.config.knobs import ConfigError
from disconer.config.load import config_from_dict, dump_config, flat, load_config, load_head, preset_names, preset_text
from disconer.config.schema import (
    ENCODERS,
    CharacterConfig,
    Config,
    DataConfig,
    EncoderConfig,
    GcnConfig,
    LstmConfig,
    SyntaxConfig,
    TrainingConfig,
)
from disconer.config.section import DEFAULT_HEAD, HEADS, HeadSettings

__all__ = [
    "DEFAULT_HEAD",
    "ENCODERS",
    "HEADS",
    "CharacterConfig",
    "Config",
    "ConfigError",
    "DataConfig",
    "EncoderConfig",
    "GcnConfig",
    "HeadSettings",
    "LstmConfig",
    "SyntaxConfig",
    "TrainingConfig",
    "config_from_dict",
    "dump_config",
    "flat",
    "load_config",
    "load_head",
    "preset_names",
    "preset_text",
]
