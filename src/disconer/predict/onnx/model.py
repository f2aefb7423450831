"""A loaded exported model and its reader. No torch and no transformers here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.config import Config, EncoderConfig, config_from_dict
from disconer.core.errors import DisconerError, Where
from disconer.core.files import CONFIG, ONNX_GRAPH, replace_file
from disconer.nn.encoders import KINDS
from disconer.nn.reader import Reader
from disconer.nn.runtime import Device, Precision
from disconer.nn.scores import ScoreScale
from disconer.predict.onnx.runtime import OnnxRuntime
from disconer.store.description import damaged, read_description, read_scale
from disconer.store.exported import RUNTIME, RuntimeDescription


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A network for ONNX Runtime. See `AnyModel`."""

    folder: Path
    config: Config
    labels: tuple[str, ...]
    reader: Reader
    max_subwords: int | None
    scale: ScoreScale
    int8: bool

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> OnnxRuntime:
        if device is not None and str(device) != "cpu":
            raise DisconerError(
                "A model exported for ONNX Runtime runs only on the CPU",
                got=f"device {device}",
                fix="Use the original model.",
            )
        if precision != "fp32":
            raise DisconerError(
                "A model exported for ONNX Runtime has a fixed precision",
                got=f"precision {precision}",
                fix="Omit the precision; `disconer export --int8` makes a faster model.",
            )
        return OnnxRuntime(self.folder, self.config.head, self.labels)

    def save(self, folder: Path) -> None:
        """Copy it; the network is written last, and each file atomically."""
        folder.mkdir(parents=True, exist_ok=True)
        if folder.samefile(self.folder):
            return
        files = [path for path in self.folder.iterdir() if path.is_file()]
        for path in sorted(files, key=lambda path: path.name == ONNX_GRAPH):
            replace_file(folder / path.name, path.read_bytes())


def load_onnx_model(folder: Path) -> OnnxModel:
    """Read the folder of an exported model."""
    description = read_description(folder)
    config = config_from_dict(description["config"], str(folder / CONFIG))
    try:
        runtime = RuntimeDescription(**description[RUNTIME])
    except (KeyError, TypeError) as error:
        raise damaged(RUNTIME, Where(str(folder / CONFIG))) from error
    return OnnxModel(
        folder=folder,
        config=config,
        labels=tuple(description["labels"]),
        reader=_load_reader(config.encoder, description["encoder"], folder, runtime.padding),
        max_subwords=runtime.max_subwords,
        scale=read_scale(description, folder),
        int8=runtime.int8,
    )


def _load_reader(config: EncoderConfig, description: Mapping[str, Any], folder: Path, padding: int) -> Reader:
    load = KINDS.get(config.kind).load_exported_reader
    if load is None:
        raise damaged("encoder", Where(str(folder / CONFIG)))
    return load(config, description, folder, padding=padding)
