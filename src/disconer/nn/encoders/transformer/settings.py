"""What the files of an encoder may decide: its shape, and nothing about addresses, paths or code.

transformers reads more from a configuration than sizes: the name of an attention kernel on the Hub, which it downloads
and runs, a pretrained backbone, a quantisation library, a tokenizer file. None of these is followed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where, excerpt
from disconer.core.files import CONFIG

# Where the configuration was read from; the labels of a classifier, which is not used here; code, which is not run.
_IGNORED = ("_name_or_path", "name_or_path", "id2label", "label2id", "task_specific_params", "auto_map")
_FOLLOWED = ("backbone", "quantization", "kernel", "custom_pipelines")  # parts of names
_IMPLEMENTATION = "implementation"  # of attention, or of experts
_BUILT_IN = (None, "eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention", "grouped_mm")
TOKENIZER_CONFIG = "tokenizer_config.json"


def check_settings(settings: Mapping[str, Any], folder: Path | str) -> None:
    """Stop if the configuration of an encoder names code, files or addresses."""
    where = Where(str(Path(folder) / CONFIG))
    for name, value in _leaves(settings):
        key = name.rpartition(".")[2]
        if any(part in name for part in _FOLLOWED) and value:
            raise _refused(name, value, where)
        if key.endswith(_IMPLEMENTATION) and value not in _BUILT_IN:
            raise _refused(name, value, where)
        if isinstance(value, str) and ("/" in value or "\\" in value):
            raise _refused(name, value, where)


def check_tokenizer_settings(folder: Path) -> None:
    """Stop if the tokenizer's configuration names other files."""
    path = folder / TOKENIZER_CONFIG
    if not path.is_file():
        return
    settings = json.loads(path.read_bytes())
    for name, value in settings.items():
        if (name.endswith("_file") or name == "tokenizer_object") and value:
            raise _refused(name, value, Where(str(path)))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _IGNORED:
                yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    else:
        yield name, value


def _refused(name: str, value: Any, where: Where) -> DisconerError:
    return DisconerError(
        f"The configuration of this encoder names code or files elsewhere: {name}",
        where=where,
        got=excerpt(value),
        fix="Remove that setting if you trust the rest; disconer uses only files of this folder, and its own code.",
    )
