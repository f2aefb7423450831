"""The recogniser of a component: loaded on first use, and saved with the pipeline."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from disconer.core.errors import DisconerError
from disconer.predict.settings import Precision
from disconer.store.names import default_model, find_model
from disconer.text.syntax.spec import UnaskedParser, refuse_unasked

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer

NOT_PICKLED = ("_process", "_folder")


class Held:
    """A recogniser that is loaded by name on first use.

    Loading is lazy because `spacy.load` first creates the component with the name from training time, and only then
    points it to the model in the pipeline's folder.
    """

    def __init__(
        self,
        model: str | None,
        *,
        device: str | None = None,
        precision: Precision = "fp32",
        parser: str | None = None,
        labels: Collection[str] | None = None,
        threshold: float | None = None,
    ) -> None:
        self.model, self.device, self.precision = model, device, precision
        self.parser, self.labels, self.threshold = parser, labels, threshold
        self.loaded: Recognizer | None = None
        self._is_given = False  # a recogniser that was not loaded here
        self._is_saved = False  # its settings are those of a saved pipeline
        self._folder: TemporaryDirectory[str] | None = None  # of a model that came as bytes
        self._process = os.getpid()

    def get(self) -> Recognizer:
        if self._process != os.getpid():
            self._settle_in_worker()
        if self.loaded is None:
            self.loaded = self._load()
        return self.loaded

    def give(self, recognizer: Recognizer) -> None:
        """Use an existing recogniser."""
        self.loaded, self._is_given = recognizer, True

    def ask_for(self, parser: str | None) -> None:
        """Use a parser that this program names."""
        self.parser, self._is_saved = parser, False
        if not self._is_given:
            self.loaded = None

    def _load(self) -> Recognizer:
        from disconer.predict.recognizer import Recognizer

        if self._is_saved and self.parser is not None:
            refuse_unasked(self.parser)
        chosen: dict[str, Any] = {"parser": self.parser, "labels": self.labels, "threshold": self.threshold}
        runs_on: dict[str, Any] = {"device": self.device, "precision": self.precision}
        return Recognizer.from_pretrained(self.model or default_model(), **runs_on, **chosen)

    def _settle_in_worker(self) -> None:
        """Prepare a forked process: torch's threads are not forked, and waiting for them would hang."""
        if self.loaded is not None and self.loaded.device.startswith("cuda"):
            raise DisconerError(
                "A model on a GPU cannot be used in processes forked after it was loaded",
                fix='Keep n_process at 1 (one process keeps a GPU busy), or set device to "cpu".',
            )
        if "torch" in sys.modules:
            import torch

            torch.set_num_threads(1)
        self._process = os.getpid()

    def to_disk(self, folder: Path) -> None:
        from disconer.predict.loading import load

        if self.loaded is not None:
            self.loaded.save_pretrained(folder)
        else:  # not by `get`: a parser that must not be used should not prevent saving the model
            load(find_model(self.model or default_model()), device=self.device).save(folder)

    def from_disk(self, folder: Path) -> None:
        """Load the model of a saved pipeline, whose settings are data like the model."""
        self.model, self.loaded, self._is_given, self._is_saved = str(folder), None, False, True
        with suppress(UnaskedParser):  # reported on first use; until then, the program may name it
            self.get()

    def to_bytes(self) -> dict[str, bytes]:
        """The files of the model by name."""
        with TemporaryDirectory() as folder:
            self.to_disk(Path(folder))
            files = (path for path in Path(folder).rglob("*") if path.is_file())
            return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    def from_bytes(self, files: dict[str, bytes]) -> None:
        self.from_disk(self._write(files))

    def _write(self, files: dict[str, bytes]) -> Path:
        """A folder with these files, which stays as long as this object: the model is saved from there."""
        self._folder = TemporaryDirectory(prefix="disconer-")
        for name, content in files.items():
            within = [part for part in PurePosixPath(name).parts if part not in ("/", "..")]
            place = Path(self._folder.name, *within)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return Path(self._folder.name)

    def __getstate__(self) -> dict[str, Any]:
        """A loaded model is pickled as its files: what runs it cannot be."""
        state = {name: value for name, value in vars(self).items() if name not in NOT_PICKLED}
        if self._is_given or (self.loaded is None and self._folder is None):
            return state
        return state | {"loaded": None, "files": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("files", None)
        vars(self).update(state, _folder=None, _process=os.getpid())
        if files is not None:
            self.model = str(self._write(files))
