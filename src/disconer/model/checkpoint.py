"""Models on disk: config.json, model.safetensors, tokenizer files, a model card. No pickle; loading runs no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from disconer import __version__
from disconer.config import config_from_dict
from disconer.errors import DisconerError, Where, excerpt
from disconer.files import replace_file
from disconer.model.build import build_network
from disconer.model.card import Figures, model_card
from disconer.model.encoding import build_encoding
from disconer.model.hub import first_line
from disconer.model.model import Model
from disconer.model.scores import UNSCALED, ScoreScale
from disconer.models import CONFIG, WEIGHTS

FORMAT_VERSION = 1  # of the folder's layout; raised when older code could not read it
CARD = "README.md"
# What config.json holds.
PARTS = {"disconer": str, "labels": list, "figures": dict, "scores": dict, "config": dict, "encoder": dict}


def save_model(model: Model, folder: Path) -> None:
    """Write a model folder. The weights come last and each file appears at once: what loads is always whole."""
    folder.mkdir(parents=True, exist_ok=True)
    description = {
        "disconer": __version__,
        "format": FORMAT_VERSION,
        "labels": list(model.labels),
        "figures": dict(model.figures),
        "scores": asdict(model.scale),
        "config": model.config.to_dict(),
        "encoder": model.network.words.encoder.description(),
    }
    _write_description(folder, description)
    model.reader.save(folder)
    save_weights(model.network, folder / WEIGHTS)


def record_figures(folder: Path, figures: Figures) -> None:
    """Add what was measured of a saved model to its description and card, by split, as `Evaluation.to_dict` has it."""
    description = _read_description(folder)
    chosen = {
        split: {name: measured[name] for name in ("documents", "overall", "kinds")}
        for split, measured in figures.items()
    }
    _write_description(folder, description | {"figures": description["figures"] | chosen})


def record_scale(folder: Path, scale: ScoreScale) -> None:
    """Add the scale of its scores to a saved model's description."""
    _write_description(folder, _read_description(folder) | {"scores": asdict(scale)})


def _write_description(folder: Path, description: Mapping[str, Any]) -> None:
    card = model_card(
        labels=description["labels"],
        config=config_from_dict(description["config"]),
        version=description["disconer"],
        figures=description["figures"],
    )
    replace_file(folder / CARD, card.encode())
    replace_file(folder / CONFIG, json.dumps(description, indent=2, ensure_ascii=False).encode())


def save_weights(network: nn.Module, path: Path) -> None:
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    replace_file(path, save(tensors))


def load_model(folder: Path) -> Model:
    """Read a model folder."""
    description = _read_description(folder)
    labels = tuple(description["labels"])
    config = config_from_dict(description["config"], str(folder / CONFIG))
    encoding = build_encoding(config.encoder, description["encoder"], folder)
    network = build_network(config, labels, encoding.encoder)
    _load_weights(network, folder / WEIGHTS)
    network.eval()
    scale = _read_scale(description, folder / CONFIG)
    return Model(network, encoding.reader, config, labels, description["figures"], scale)


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    where = Where(str(path))
    try:
        description = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DisconerError(
            "There is no model here",
            where=Where(str(folder)),
            expected=f"a folder with {CONFIG} and {WEIGHTS}",
            fix="Give the folder that `disconer train` wrote.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise DisconerError(
            "The configuration of this model is damaged",
            where=where,
            got=first_line(error),
            fix="Copy the model again.",
        ) from error
    if not isinstance(description, dict) or "format" not in description:
        raise _foreign(description, where)
    version = description["format"]
    if version != FORMAT_VERSION:
        raise DisconerError(
            "This model was written by another version of disconer",
            where=where,
            got=f"format {version} of disconer {description.get('disconer')}",
            expected=f"format {FORMAT_VERSION}, which disconer {__version__} reads",
            fix="Install the version that wrote it, or train the model again.",
        )
    description = {"figures": {}, "scores": asdict(UNSCALED)} | description
    _check_parts(description, where)
    return description


def _read_scale(description: Mapping[str, Any], path: Path) -> ScoreScale:
    try:
        return ScoreScale(**{name: float(value) for name, value in description["scores"].items()})
    except (TypeError, ValueError) as error:
        raise _damaged("scores", Where(str(path))) from error


def _foreign(description: object, where: Where) -> DisconerError:
    kind = description.get("model_type") if isinstance(description, dict) else None
    if kind is None:
        return DisconerError("This is not the configuration of a disconer model", where=where, fix="Check the path.")
    return DisconerError(
        f"This is a plain Hugging Face model ({kind}), not a disconer model",
        where=where,
        fix="Train one on top of it: name this folder as encoder.name in the configuration of `disconer train`.",
    )


def _check_parts(description: Mapping[str, Any], where: Where) -> None:
    """What `save_model` wrote must be there, each part of its type."""
    wrong = [name for name, kind in PARTS.items() if not isinstance(description.get(name), kind)]
    labels = description.get("labels")
    if not labels or "labels" in wrong or not all(isinstance(label, str) and label for label in labels):
        wrong.append("labels")
    if wrong:
        raise _damaged(wrong[0], where)


def _damaged(part: str, where: Where) -> DisconerError:
    return DisconerError(
        f"The configuration of this model is damaged: {part!r} is missing or not what disconer writes",
        where=where,
        fix="Copy the model again.",
    )


def _load_weights(network: nn.Module, path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        network.load_state_dict(load_file(path))
    except FileNotFoundError as error:
        raise DisconerError(
            "The weights of this model are missing", where=Where(str(path)), fix="Copy the model again, whole."
        ) from error
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DisconerError(
            "The weights of this model are damaged or belong to another one",
            where=Where(str(path)),
            got=excerpt(" ".join(str(error).split()), 160),
            fix="Copy the model again, whole.",
        ) from error
