"""How the models of a service are loaded. No torch here before they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from disconer.predict.settings import RuntimeName
from disconer.text import SplitterName

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """What all models of a service are loaded with; see `Recognizer`."""

    device: str | None = None
    splitter: SplitterName | None = None
    parser: str | None = None
    runtime: RuntimeName | None = None


AS_USUAL = Loading()


def load_recognizers(models: Mapping[str, str], loading: Loading = AS_USUAL) -> dict[str, Recognizer]:
    """The recognisers of models, given as paths by name."""
    from disconer.predict.recognizer import Recognizer  # only here: it may import torch

    return {name: Recognizer.from_pretrained(where, **asdict(loading)) for name, where in models.items()}
