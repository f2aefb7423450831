"""The configuration of a training that starts from a model."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from disconer.config import Config, DataConfig, config_from_dict
from disconer.core.files import CONFIG
from disconer.start.splits import DEV, TRAIN
from disconer.store.description import read_description
from disconer.store.names import find_model


@dataclass(frozen=True, slots=True)
class Start:
    """A model to start from: what it is called, how it was trained, and what it finds."""

    name: str
    config: Config
    labels: tuple[str, ...]

    def settings(self, base: Config | None, head: str | None) -> Config:
        """`base` (or the defaults), with all that must be as the model has it.

        head: the kind of head; None: that of `base`, or without one the model's.
        """
        own = self.config.to_dict()
        values = (base or Config(data=DataConfig(train=TRAIN, dev=DEV))).to_dict()
        kind = head or (base.head.kind if base else self.config.head.kind)
        if kind == self.config.head.kind:
            values["head"] = own["head"]
        values["data"]["tokenizer"] = own["data"]["tokenizer"]
        values["training"]["start_from"] = self.name
        return config_from_dict(values | {"encoder": own["encoder"], "syntax": own["syntax"]})

    def findings(self, config: Config, labels: Collection[str]) -> Iterator[str]:
        """What a configuration takes from the model. labels: those of the data."""
        words = f"Training starts from {self.name} (encoder {config.encoder.name})"
        if config.head.kind == self.config.head.kind:
            shared = ", ".join(sorted(set(labels) & set(self.labels))) or "none"
            yield f"{words}; labels taken over: {shared}."
        else:
            yield f"{words}; its head, of kind {self.config.head.kind}, is not taken over."


def read_start(name: str) -> Start:
    """A model by its name or path."""
    folder = find_model(name)
    description = read_description(folder)
    config = config_from_dict(description["config"], str(folder / CONFIG))
    return Start(name, config, tuple(description["labels"]))
