"""What each output of a folder was made from, so that no answer to another text is taken for the one asked for.

An output counts as done if a digest of its input, with model and settings, is the one on record. Times of files say
nothing: copies and archives keep old ones. Reading a text takes far less time than predicting it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from disconer.core.errors import BadInput, DisconerError, Where
from disconer.core.files import append_line, locked
from disconer.core.types import Document
from disconer.predict.inputs import Unit

INPUTS = ".disconer.inputs"  # in the folder; readers skip names that start with a dot
OTHER_FOLDER = "Choose another folder for --out, or add --force to predict everything again."

_DIGEST_BYTES = 16
_CHUNK = 2**20
_UNREADABLE = ""
_LACKING = " without the bad input that was skipped"


@dataclass(slots=True)
class Origins:
    """The origins of a folder's outputs: lines of a file to which all processes that fill the folder append.

    made_by: a digest of model and settings.
    """

    folder: Path
    made_by: str
    _known: dict[str, str]

    @classmethod
    def load(cls, folder: Path, made_by: str) -> Origins:
        known: dict[str, str] = {}
        with suppress(FileNotFoundError), open(folder / INPUTS, "rb") as lines:
            for line in lines:
                with suppress(ValueError, TypeError):  # a line that a crash cut off: its output was not written
                    output, origin = json.loads(line)
                    known[output] = origin
        return cls(folder, made_by, known)

    def of_unit(self, unit: Unit) -> str:
        """The origin of an output with all of a unit. What cannot be read is like nothing on record."""
        digest = self._digest(unit.format.name)
        try:
            for member in unit.source:
                digest.update(f"\n{member.name}\n".encode("utf-8", "surrogateescape"))
                with member.open() as stream:
                    while chunk := stream.read(_CHUNK):
                        digest.update(chunk)
        except BadInput:  # reported when it is read
            return _UNREADABLE
        return digest.hexdigest()

    def of_document(self, document: Document) -> str:
        """The origin of an output with one document, before its prediction."""
        digest = self._digest(document.text)
        digest.update(repr(document.sentences).encode())
        return digest.hexdigest()

    def is_current(self, output: Path, origin: str, *, skip_bad: bool) -> bool:
        """Whether an existing output is of this origin. One that lacks bad input will do if that may be skipped."""
        known = self._known.get(self._name(output))
        if known is None:
            raise DisconerError(
                "This output already exists, and the folder has no record of what it was made from",
                where=Where(str(output)),
                fix=OTHER_FOLDER,
            )
        return known == origin or (skip_bad and known == origin + _LACKING)

    def record(self, output: Path, origin: str, *, lacking: bool) -> None:
        """Record the origin of an output that is not there yet: so no output is ever with another one's origin.

        lacking: whether bad input was skipped.
        """
        name, origin = self._name(output), origin + _LACKING * lacking
        with locked(self.folder / INPUTS, wait=True):
            append_line(self.folder / INPUTS, json.dumps([name, origin]).encode())
        self._known[name] = origin

    def _digest(self, content: str) -> blake2b:
        return blake2b(f"{self.made_by}\n{content}\n".encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES)

    def _name(self, output: Path) -> str:
        return str(output.relative_to(self.folder))
