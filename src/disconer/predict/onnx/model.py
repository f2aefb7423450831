"""A model for ONNX Runtime: as it is stored, or exported. No torch and no transformers here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.config import Config, EncoderConfig, config_from_dict
from disconer.core.cores import has_vnni
from disconer.core.errors import DisconerError, Where
from disconer.core.files import replace_file
from disconer.core.places import CONFIG, ONNX_GRAPH, WEIGHTS
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.reader import Reader
from disconer.nn.runtime import Device, Precision
from disconer.nn.scores import ScoreScale
from disconer.predict.onnx.runtime import OnnxRuntime, Sessions, exported_sessions, stored_sessions
from disconer.store.description import RUNTIME, RuntimeDescription, damaged, is_proven, read_description, read_scale
from disconer.store.graphs import INT8_NETWORK, StoredGraphs


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A network for ONNX Runtime. See `AnyModel`.

    description: its config.json.
    stored: the graphs of a model as it is stored; None for an exported one, which has its weights in its graphs.
    """

    folder: Path
    description: Mapping[str, Any]
    config: Config
    labels: tuple[str, ...]
    reader: Reader
    max_subwords: int | None
    scale: ScoreScale
    int8: bool = False
    stored: StoredGraphs | None = None

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> OnnxRuntime:
        if device is not None and str(device) != "cpu":
            raise DisconerError(
                "ONNX Runtime runs only on the CPU", got=f"device {device}", fix=f"{self._instead} in torch."
            )
        if precision == "bf16":
            raise DisconerError("ONNX Runtime does not compute in bf16", fix=f"{self._instead} in torch, or int8.")
        if self.stored is None:
            return OnnxRuntime(self._exported(precision), self.config.head, self.labels)
        int8 = precision == "int8" or (precision == "auto" and self._is_better_in_int8)
        if int8 and INT8_NETWORK not in self.stored.graphs:
            raise DisconerError(
                "This model has no graph for int8",
                where=Where(str(self.folder)),
                fix="Use fp32, or write its graphs again: `disconer export MODEL OUT --compact`.",
            )
        sessions = stored_sessions(self.folder, self.description, self.stored, int8=int8)
        return OnnxRuntime(sessions, self.config.head, self.labels)

    def _exported(self, precision: Precision) -> Sessions:
        if precision == "int8" and not self.int8:
            raise DisconerError(
                "This model was exported in fp32", where=Where(str(self.folder)), fix=f"{self._instead} in int8."
            )
        return exported_sessions(self.folder)

    @property
    def _is_better_in_int8(self) -> bool:
        """Whether int8 is faster on this processor, and known to lose little F1 for this model."""
        return has_vnni() and is_proven(self.description)

    @property
    def _instead(self) -> str:
        return "Use the model that it was exported from," if self.stored is None else "Use the model"

    def save(self, folder: Path) -> None:
        """Copy it; the files that make the folder a model are written last, and each file atomically.

        Those of another model there are removed first: its weights would be loaded instead of these graphs.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if folder.samefile(self.folder):
            return
        files = [path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file()]
        files = [path for path in files if not any(part.startswith(".") for part in path.parts)]  # such as git's
        for name in {ONNX_GRAPH, WEIGHTS} - {path.name for path in files}:
            (folder / name).unlink(missing_ok=True)
        for path in sorted(files, key=lambda path: path.name in (ONNX_GRAPH, WEIGHTS)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            replace_file(folder / path, (self.folder / path).read_bytes())


def load_stored_model(folder: Path, stored: StoredGraphs) -> OnnxModel:
    """Read the folder of a model that has graphs."""
    return _load(folder, read_description(folder), stored.max_subwords, stored.padding, stored=stored)


def load_exported_model(folder: Path) -> OnnxModel:
    """Read the folder of an exported model."""
    description = read_description(folder)
    try:
        runtime = RuntimeDescription(**description[RUNTIME])
    except (KeyError, TypeError) as error:
        raise damaged(RUNTIME, Where(str(folder / CONFIG))) from error
    return _load(folder, description, runtime.max_subwords, runtime.padding, int8=runtime.int8)


def _load(
    folder: Path,
    description: Mapping[str, Any],
    max_subwords: int | None,
    padding: int,
    *,
    int8: bool = False,
    stored: StoredGraphs | None = None,
) -> OnnxModel:
    config = config_from_dict(description["config"], str(folder / CONFIG))
    return OnnxModel(
        folder=folder,
        description=description,
        config=config,
        labels=tuple(description["labels"]),
        reader=_load_reader(config.encoder, description["encoder"], folder, padding),
        max_subwords=max_subwords,
        scale=read_scale(description, folder),
        int8=int8,
        stored=stored,
    )


def _load_reader(config: EncoderConfig, description: Mapping[str, Any], folder: Path, padding: int) -> Reader:
    load = ENCODER_KINDS.get(config.kind).load_exported_reader
    if load is None:
        raise damaged("encoder", Where(str(folder / CONFIG)))
    return load(config, description, folder, padding=padding)
