"""The recogniser that a component holds: loaded when needed, saved with the pipeline, fit for worker processes."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from disconer.core.errors import DisconerError
from disconer.store.names import default_model

if TYPE_CHECKING:  # torch is imported when a model is used: spaCy imports these modules with every pipeline
    from disconer.predict.recognizer import Recognizer


class Held:
    """A recogniser by its name, and then itself.

    It is loaded late, because `spacy.load` first makes the component with the name that it had where it was trained,
    and only then shows it the model that is in the pipeline's folder.
    """

    def __init__(self, model: str | None, device: str | None) -> None:
        self.model, self.device = model, device
        self.loaded: Recognizer | None = None
        self._process = os.getpid()

    def get(self) -> Recognizer:
        if self._process != os.getpid():
            self._settle_in_worker()
        if self.loaded is None:
            self._load(self.model or default_model())
        assert self.loaded is not None
        return self.loaded

    def _load(self, model: str | Path) -> None:
        from disconer.predict.recognizer import Recognizer

        self.loaded = Recognizer.from_pretrained(model, device=self.device)

    def _settle_in_worker(self) -> None:
        """Make a forked process fit for work: torch's threads did not come along, and waiting for them is for ever."""
        import torch

        if self.loaded is not None and self.loaded.device.startswith("cuda"):
            raise DisconerError(
                "A model on a GPU cannot be used in processes that were forked after it was loaded",
                fix='Leave n_process at 1 (a GPU is kept busy by one), or set device to "cpu".',
            )
        torch.set_num_threads(1)
        self._process = os.getpid()

    def to_disk(self, folder: Path) -> None:
        self.get().save_pretrained(folder)

    def from_disk(self, folder: Path) -> None:
        self._load(folder)

    def to_bytes(self) -> dict[str, bytes]:
        """The files of the model by name."""
        with TemporaryDirectory() as folder:
            self.to_disk(Path(folder))
            return {path.name: path.read_bytes() for path in Path(folder).iterdir()}

    def from_bytes(self, files: dict[str, bytes]) -> None:
        with TemporaryDirectory() as folder:
            for name, content in files.items():
                (Path(folder) / Path(name).name).write_bytes(content)
            self.from_disk(Path(folder))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_process"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _process=os.getpid())
