"""Models on disk: config.json, model.safetensors, tokenizer files, a model card. No pickle; loading runs no code.

A damaged or malicious description could state sizes that fill the memory, so they are compared with the size of the
weights file first. Every weight takes at least six bits there (or in a bundled encoder, if only differences from it are
stored): a description of more weights than the file can hold is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from disconer.config import Config, config_from_dict
from disconer.core.errors import DisconerError, Where
from disconer.core.places import BUNDLED_ENCODERS, CONFIG, WEIGHTS
from disconer.core.version import __version__
from disconer.evaluate.comparison import Comparison
from disconer.nn.encoders import ENCODER_KINDS
from disconer.nn.encoders.transformer.bundled import COMPACT_WEIGHTS, base_of
from disconer.nn.network import AnyNetwork, TorchRuntime, build_network
from disconer.nn.reader import Reader
from disconer.nn.runtime import Device, Precision
from disconer.nn.scores import UNSCALED, ScoreScale
from disconer.nn.weights import full_weights, write_weights
from disconer.store.card import Figures
from disconer.store.description import (
    COMPACT,
    FORMAT_VERSION,
    INT8,
    RUNTIME,
    CompactDescription,
    compact_description,
    damaged,
    damaged_weights,
    missing_weights,
    read_description,
    read_scale,
    write_description,
)
from disconer.store.graphs import UNKNOWN, NoGraphs, StoredGraphs, read_graphs, remove_graphs, write_graphs


@dataclass(frozen=True, slots=True)
class Model:
    """A network in torch, to be trained or run.

    figures: its metrics, by split; see `card.Figures`.
    scale: turns the scores of its entities into calibrated probabilities.
    graphs: its graphs for ONNX Runtime, without weights.
    int8: the comparison of its answers in 8 bits with those in 32, from `Comparison.to_dict`; None if not measured.
    """

    network: AnyNetwork
    reader: Reader
    config: Config
    labels: tuple[str, ...]
    figures: Figures = field(default_factory=dict)
    scale: ScoreScale = UNSCALED
    graphs: StoredGraphs | NoGraphs = UNKNOWN
    int8: Mapping[str, Any] | None = None

    @property
    def max_subwords(self) -> int | None:
        limits = [self.network.words.encoder.max_subwords, self.config.encoder.max_subwords]
        return min((limit for limit in limits if limit is not None), default=None)

    def runtime(self, device: Device = None, precision: Precision = "fp32") -> TorchRuntime:
        return TorchRuntime(self.network, device, precision)

    def save(self, folder: Path) -> None:
        save_model(self, folder)


def save_model(model: Model, folder: Path, weights: Mapping[str, Tensor] | None = None) -> None:
    """Write a model folder. The weights are written last and each file atomically: what loads is complete.

    weights: those to write; None: those that the network has now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_description(folder, describe(model))
    model.reader.save(folder)
    save_graphs(model, folder)
    write_weights(model.network.state_dict() if weights is None else weights, folder / WEIGHTS)


def save_graphs(model: Model, folder: Path) -> None:
    """Write a model's graphs for ONNX Runtime, or why it has none; if unknown, remove those of another model."""
    if model.graphs is UNKNOWN:
        remove_graphs(folder)
    else:
        write_graphs(folder, model.graphs)


def describe(model: Model) -> dict[str, Any]:
    """The part of config.json that every model has."""
    return {
        "disconer": __version__,
        "format": FORMAT_VERSION,
        "labels": list(model.labels),
        "figures": dict(model.figures),
        "scores": asdict(model.scale),
        "config": model.config.to_dict(),
        "encoder": model.network.words.encoder.description(),
    } | ({} if model.int8 is None else {INT8: model.int8})


def record_measures(folder: Path, scale: ScoreScale, figures: Figures) -> None:
    """Add what was measured of a saved model to its description and card.

    scale: of its scores. figures: by split, as from `Evaluation.to_dict`.
    """
    description = read_description(folder)
    chosen = {
        split: {name: measured[name] for name in ("documents", "overall", "kinds")}
        for split, measured in figures.items()
    }
    write_description(folder, description | {"scores": asdict(scale), "figures": description["figures"] | chosen})


def record_comparison(folder: Path, comparison: Comparison) -> None:
    """Add the comparison with the original model to an exported model's description and card."""
    description = read_description(folder)
    export = RUNTIME if RUNTIME in description else COMPACT
    checked = description.get(export, {}) | {"checked": comparison.to_dict()}
    write_description(folder, description | {export: checked})


def record_int8(folder: Path, comparison: Comparison) -> None:
    """Add the comparison of a model in int8 with itself in fp32 to its description and card."""
    write_description(folder, read_description(folder) | {INT8: comparison.to_dict()})


def load_model(folder: Path) -> Model:
    """Read a model folder."""
    description = read_description(folder)
    labels = tuple(description["labels"])
    config = config_from_dict(description["config"], str(folder / CONFIG))
    compact = compact_description(description, folder)
    check_sizes(description, folder / WEIGHTS, compact.base)
    kind = ENCODER_KINDS.get(config.encoder.kind)
    build_encoding = partial(kind.build, config.encoder, description["encoder"], folder)
    try:
        with torch.device("meta"):  # takes no memory
            plan = build_network(config, labels, build_encoding().encoder)
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:  # sizes that do not fit each other
        raise damaged("config", Where(str(folder / CONFIG))) from error
    check_parameters(plan, folder / WEIGHTS, compact.base)
    encoding = build_encoding()
    network = build_network(config, labels, encoding.encoder)
    _load_weights(network, folder / WEIGHTS, _base(network, compact))
    network.eval()
    scale = read_scale(description, folder)
    return Model(
        network,
        encoding.reader,
        config,
        labels,
        description["figures"],
        scale,
        read_graphs(folder),
        description.get(INT8),
    )


def _base(network: nn.Module, compact: CompactDescription) -> Mapping[str, Tensor]:
    """The weights of the encoder that a compact model stores differences from; empty if none."""
    if compact.base is None or compact.base_digest is None:
        return {}
    return base_of(network, compact.base)


def _load_weights(network: nn.Module, path: Path, base: Mapping[str, Tensor]) -> None:
    from safetensors.torch import load_file

    with damaged_weights(path):
        network.load_state_dict(full_weights(load_file(path), network.state_dict(), base))


WEIGHTS_PER_BYTE = 2  # more than the 8/6 of the fewest bits
NOT_STORED = 2**20  # numbers that are computed, not stored, such as positions
MOST_LAYERS = 1000
# Settings that say how often something is built.
_REPEATED = ("layers", "blocks", "heads", "experts", "highways", "num_hidden_groups", "inner_group_num")


def check_sizes(description: Mapping[str, Any], weights: Path, base: str | None) -> None:
    """Refuse numbers too large for any network that fits the weights: each may be the length of a loop or a vector."""
    if not weights.is_file():
        raise missing_weights(weights)
    most = _most_weights(weights, base)
    config = description.get("config", {})
    sections = {f"config.{name}": config.get(name) for name in ("encoder", "syntax", "head")}
    for section, values in (sections | {"encoder": description.get("encoder")}).items():
        for name, number in _numbers(values, section):
            limit = MOST_LAYERS if name.endswith(_REPEATED) else most
            if number > limit:
                raise _too_large(weights, f"{name} = {str(number)[:30]}", f"at most {limit:,}")


def check_parameters(network: nn.Module, weights: Path, base: str | None) -> None:
    """Refuse a network with more weights than its file can hold. network: on the device meta, without memory."""
    n_weights, most = sum(weight.numel() for weight in network.state_dict().values()), _most_weights(weights, base)
    if n_weights > most:
        raise _too_large(weights, f"a network of {n_weights:,} weights", f"at most {most:,}")


def _most_weights(weights: Path, base: str | None) -> int:
    files = [weights, *([BUNDLED_ENCODERS / base / COMPACT_WEIGHTS] if base else [])]
    n_bytes = sum(path.stat().st_size for path in files if path.is_file())
    return WEIGHTS_PER_BYTE * n_bytes + NOT_STORED


def _numbers(value: Any, name: str) -> Iterator[tuple[str, int]]:
    """Every whole number of a JSON value, with its name."""
    if isinstance(value, int):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{name}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item, name)


def _too_large(weights: Path, got: str, expected: str) -> DisconerError:
    return DisconerError(
        "The configuration of this model describes a larger network than its weights file contains",
        where=Where(str(weights.with_name(CONFIG))),
        got=got,
        expected=f"{expected}, by the size of {weights.name}",
        fix="Copy the complete model again, or do not trust it.",
    )
