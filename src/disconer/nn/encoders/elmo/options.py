"""The sizes of an ELMo, as its published options.json says them. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disconer.nn.encoders.elmo.reader import MAX_LETTERS

ACTIVATIONS = ("relu", "tanh")


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """Sizes of the two parts: from letters to word vectors, and the language models over these.

    letter_size: numbers by which a letter is known. filters: width and number of each group of convolutions.
    highways: layers after them. activation: of the convolutions.
    word_size: numbers of a word in each direction. cells: of each LSTM. layers: LSTMs of each direction.
    cell_clip, word_clip: where cells and words are cut off; None: nowhere.
    skip: whether a layer's input is added to its output, but for the first.
    """

    letters: int
    letter_size: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    activation: str
    word_size: int
    cells: int
    layers: int
    cell_clip: float | None
    word_clip: float | None
    skip: bool

    @classmethod
    def published(cls, options: Mapping[str, Any]) -> ElmoOptions:
        """From the content of options.json. Raises KeyError, TypeError or ValueError where it is something else."""
        letters, lstm = options["char_cnn"], options["lstm"]
        activation = letters.get("activation", "relu")
        if letters["max_characters_per_token"] != MAX_LETTERS or activation not in ACTIVATIONS:
            raise ValueError(f"words of other than {MAX_LETTERS} letters, or an activation that ELMo never had")
        return cls(
            letters=int(letters["n_characters"]),
            letter_size=int(letters["embedding"]["dim"]),
            filters=tuple((int(width), int(count)) for width, count in letters["filters"]),
            highways=int(letters["n_highway"]),
            activation=activation,
            word_size=int(lstm["projection_dim"]),
            cells=int(lstm["dim"]),
            layers=int(lstm["n_layers"]),
            cell_clip=lstm.get("cell_clip"),
            word_clip=lstm.get("proj_clip"),
            skip=bool(lstm.get("use_skip_connections", False)),
        )

    @classmethod
    def described(cls, description: Mapping[str, Any]) -> ElmoOptions:
        """From what a model folder keeps, as `dataclasses.asdict` made it."""
        filters = tuple((int(width), int(count)) for width, count in description["filters"])
        return cls(**{**description, "filters": filters})
