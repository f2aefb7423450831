"""An exported model, loaded, and what reads text for it. No torch and no transformers here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disconer.config import Config, EncoderConfig, config_from_dict
from disconer.core.errors import DisconerError, Where
from disconer.core.files import CONFIG, ONNX_GRAPH, replace_file
from disconer.nn.encoders.hub import first_line
from disconer.nn.encoders.transformer.case import reads_case
from disconer.nn.encoders.transformer.subwords import PieceTokenizer
from disconer.nn.encoders.vectors.reader import WordReader, load_words
from disconer.nn.reader import Reader
from disconer.nn.runtime import Device, Precision
from disconer.nn.scores import ScoreScale
from disconer.predict.onnx.runtime import OnnxRuntime
from disconer.store.description import damaged, read_description, read_scale
from disconer.store.exported import RUNTIME, RuntimeDescription

TOKENIZER = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class SavedTokenizer:
    """A tokenizer.json as `PieceTokenizer` expects it: what a tokenizer of transformers is, without transformers."""

    backend_tokenizer: Any
    pad_token_id: int

    def save_pretrained(self, folder: str) -> None:
        self.backend_tokenizer.save(str(Path(folder) / TOKENIZER))


def load_reader(config: EncoderConfig, folder: Path, *, padding: int, case: bool) -> Reader:
    """The reader of the exported model in a folder."""
    if config.kind == "vectors":
        return WordReader(load_words(folder), spelled=config.characters is not None)
    return PieceTokenizer(SavedTokenizer(_load_tokenizer(folder / TOKENIZER), padding), case=case)


def _load_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # what the tokenizers library raises has no type of its own
        raise DisconerError(
            "The tokenizer of this model is missing or damaged",
            where=Where(str(path)),
            got=first_line(error),
            fix="Copy the model again, whole.",
        ) from error


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A network for ONNX Runtime, to be run. See `AnyModel`."""

    folder: Path
    config: Config
    labels: tuple[str, ...]
    reader: Reader
    max_pieces: int | None
    scale: ScoreScale
    int8: bool

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> OnnxRuntime:
        if device is not None and str(device) != "cpu":
            raise DisconerError(
                "A model that was exported for ONNX Runtime runs on the CPU",
                got=f"device {device}",
                fix="Use the model that it was exported from.",
            )
        if precision != "fp32":
            raise DisconerError(
                "A model that was exported for ONNX Runtime runs in the precision that it was exported in",
                got=f"precision {precision}",
                fix="Leave the precision out; `disconer export --int8` makes a faster model.",
            )
        return OnnxRuntime(self.folder, self.config.head, self.labels)

    def save(self, folder: Path) -> None:
        """Copy it; the network comes last, and each file appears at once."""
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
        reader=load_reader(config.encoder, folder, padding=runtime.padding, case=reads_case(description["encoder"])),
        max_pieces=runtime.max_pieces,
        scale=read_scale(description, folder),
        int8=runtime.int8,
    )
