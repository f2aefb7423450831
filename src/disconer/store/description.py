"""config.json and the card of a model folder, what exports add to both; a fingerprint of the model. No torch here."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from disconer.config import config_from_dict
from disconer.core.errors import DisconerError, Where, excerpt, first_line
from disconer.core.files import replace_file
from disconer.core.places import CONFIG, WEIGHTS
from disconer.core.version import __version__
from disconer.nn.encoders.transformer.bundled import check_base
from disconer.nn.scores import UNSCALED, ScoreScale
from disconer.nn.weights import CHANGE_BITS, MATRIX_BITS, TABLE_BITS
from disconer.store.card import comparison_in_words, model_card
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
    _drop_idle_dropout(description["config"])
    return description


def _drop_idle_dropout(config: dict[str, Any]) -> None:
    """Dropout of a single LSTM layer did nothing, and is an error now. Models that were trained with it still load."""
    encoder = config.get("encoder")
    lstm = encoder.get("lstm") if isinstance(encoder, dict) else None
    if isinstance(lstm, dict) and lstm.get("layers", 1) == 1:
        lstm["dropout"] = 0.0


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
    label, n_times = Counter(description["labels"]).most_common(1)[0]
    if n_times > 1:
        raise DisconerError(
            f"The configuration of this model is damaged: {label!r} occurs {n_times} times in 'labels'",
            where=where,
            fix="Copy the model again.",
        )


def damaged(part: str, where: Where) -> DisconerError:
    return DisconerError(
        f"The configuration of this model is damaged: {part!r} is missing or invalid",
        where=where,
        fix="Copy the model again.",
    )


@contextmanager
def damaged_weights(path: Path) -> Iterator[None]:
    """Within, errors of reading a model's weights become messages for users."""
    from safetensors import SafetensorError

    try:
        yield
    except FileNotFoundError as error:
        raise missing_weights(path) from error
    except (OSError, SafetensorError, RuntimeError, ValueError, LookupError, TypeError) as error:
        raise DisconerError(
            "The weights of this model are damaged or belong to another model",
            where=Where(str(path)),
            got=excerpt(" ".join(str(error).split()), 160),
            fix="Copy the complete model again.",
        ) from error


def missing_weights(path: Path) -> DisconerError:
    return DisconerError(
        "The weights of this model are missing", where=Where(str(path)), fix="Copy the complete model again."
    )


RUNTIME = "runtime"  # the key in config.json of the description below


@dataclass(frozen=True, slots=True)
class RuntimeDescription:
    """The part of config.json for exported models.

    int8: whether its weights are quantised to 8 bits.
    max_subwords: of a window, those around it included; None for no limit.
    padding: the id of padding.
    checked: comparison with the original model, from `Comparison.to_dict`; None if unknown.
    """

    int8: bool
    max_subwords: int | None
    padding: int
    kind: str = "onnx"
    checked: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """A sentence for the model card."""
        weights = ", with weights quantised to 8 bits" if self.int8 else ""
        said = [
            f"This is an export for ONNX Runtime{weights}. It runs on the CPU without torch.",
            "The figures below were measured before the export.",
        ]
        if self.checked:
            said.append(comparison_in_words(self.checked))
        return "\n".join(said)


COMPACT = "compact"  # the key in config.json of the description below


@dataclass(frozen=True, slots=True)
class CompactDescription:
    """The part of config.json for compact models.

    base: a bundled encoder, if the model stores only the difference from it.
    base_digest: of that encoder's weights.
    checked: comparison with the original model, from `Comparison.to_dict`; None if unknown.
    """

    table_bits: int = TABLE_BITS
    matrix_bits: int = MATRIX_BITS
    change_bits: int = CHANGE_BITS
    base: str | None = None
    base_digest: str | None = None
    checked: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """A sentence for the model card."""
        said = [
            f"It is stored compactly: weights are quantised to {self.matrix_bits} bits, those of embeddings to "
            f"{self.table_bits}, and computation is in 32 bits."
        ]
        if self.base:
            said.append(
                f"Of its encoder, only the difference from the bundled `{self.base}` is stored, with "
                f"{self.change_bits} bits."
            )
        if self.checked:
            said.append(comparison_in_words(self.checked))
        return "\n".join(said)


def compact_description(description: Mapping[str, Any], folder: Path) -> CompactDescription:
    """How the model in a folder is stored compactly; its base must be there, unchanged."""
    try:
        compact = CompactDescription(**description.get(COMPACT, {}))
    except TypeError as error:
        raise damaged(COMPACT, Where(str(folder / CONFIG))) from error
    if compact.base is not None and compact.base_digest is not None:
        check_base(str(compact.base), str(compact.base_digest), folder)
    return compact


INT8 = "int8"  # the key in config.json of a comparison: the model in 8 bits with itself in 32; see `Comparison.to_dict`
MOST_LOST = 0.003  # F1: more is not worth the speed without being asked


def is_proven(description: Mapping[str, Any]) -> bool:
    """Whether a model is known to lose little in int8."""
    checked = description.get(INT8)
    return checked is not None and checked["before"]["f1"] - checked["after"]["f1"] <= MOST_LOST


def export_in_words(description: Mapping[str, Any]) -> str | None:
    """A sentence for the model card, if it is an export."""
    if RUNTIME in description:
        return RuntimeDescription(**description[RUNTIME]).in_words
    said = [CompactDescription(**description[COMPACT]).in_words] if COMPACT in description else []
    if checked := description.get(INT8):
        said.append(comparison_in_words(checked, "Computed with 8 bits (`--precision int8`)"))
    return "\n".join(said) or None


SECTIONS = ("encoder", "syntax", "head")  # of the configuration: those that define the network


def model_digest(folder: Path) -> str:
    """A digest of weights, tokenizer and network settings; the card and measurements do not count."""
    description = read_description(folder)
    config = {section: description["config"].get(section) for section in SECTIONS}
    base = description.get(COMPACT, {}).get("base_digest")
    network = json.dumps([description["labels"], description["encoder"], config, base], sort_keys=True)
    digest = hashlib.sha256(network.encode())
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in (CONFIG, CARD) and not path.name.startswith("."):
            with open(path, "rb") as stream:
                digest.update(path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
