"""config.json and the card of a model folder. No torch here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from disconer.config import config_from_dict
from disconer.core.errors import DisconerError, Where, first_line
from disconer.core.files import CONFIG, WEIGHTS, replace_file
from disconer.core.version import __version__
from disconer.nn.scores import UNSCALED, ScoreScale
from disconer.store.card import model_card
from disconer.store.exported import export_in_words
from disconer.store.names import CARD, RELEASE
from disconer.store.release_card import release_card

FORMAT_VERSION = 2  # of the folder's layout; increased when older code cannot read it
# The keys of config.json.
PARTS = {"disconer": str, "labels": list, "figures": dict, "scores": dict, "config": dict, "encoder": dict}


def write_description(folder: Path, description: Mapping[str, Any]) -> None:
    """Write config.json and the card."""
    replace_file(folder / CARD, _card(folder, description).encode())
    replace_file(folder / CONFIG, json.dumps(description, indent=2, ensure_ascii=False).encode())


def _card(folder: Path, description: Mapping[str, Any]) -> str:
    config, version = config_from_dict(description["config"]), description["disconer"]
    export = export_in_words(description)
    if RELEASE in description:
        weights = folder / WEIGHTS
        size = weights.stat().st_size if weights.is_file() else None
        return release_card(description[RELEASE], config=config, version=version, export=export, size=size)
    labels, figures = description["labels"], description["figures"]
    return model_card(labels=labels, config=config, version=version, figures=figures, export=export)


def read_description(folder: Path) -> dict[str, Any]:
    """The contents of config.json, checked."""
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


def read_scale(description: Mapping[str, Any], folder: Path) -> ScoreScale:
    """The scale of its scores."""
    try:
        return ScoreScale(**{name: float(value) for name, value in description["scores"].items()})
    except (TypeError, ValueError) as error:
        raise damaged("scores", Where(str(folder / CONFIG))) from error


def _foreign(description: object, where: Where) -> DisconerError:
    kind = description.get("model_type") if isinstance(description, dict) else None
    if kind is None:
        return DisconerError("This is not the configuration of a disconer model", where=where, fix="Check the path.")
    return DisconerError(
        f"This is a plain Hugging Face model ({kind}), not a disconer model",
        where=where,
        fix="To train a model on top of it, set encoder.name to this folder in the configuration of `disconer train`.",
    )


def _check_parts(description: Mapping[str, Any], where: Where) -> None:
    """All parts must be there, each of its type."""
    wrong = [name for name, kind in PARTS.items() if not isinstance(description.get(name), kind)]
    labels = description.get("labels")
    if not labels or "labels" in wrong or not all(isinstance(label, str) and label for label in labels):
        wrong.append("labels")
    if wrong:
        raise damaged(wrong[0], where)


def damaged(part: str, where: Where) -> DisconerError:
    return DisconerError(
        f"The configuration of this model is damaged: {part!r} is missing or invalid",
        where=where,
        fix="Copy the model again.",
    )
