"""Trees from any installed spaCy pipeline that has a parser."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from disconer.core.errors import DisconerError, Where
from disconer.text.syntax.parser import Identity, Parse, Unparsed
from disconer.text.syntax.processes import Processes, n_cores
from disconer.text.syntax.spacy_pipeline import Pipeline
from disconer.text.syntax.spec import BIOMEDICAL, ParserSpec
from disconer.text.syntax.words import Words

WORTH_PROCESSES = 4000  # sentences: eight seconds of work for one process, and several take three to start
BATCH = 128  # sentences that a process gets at once
META = "meta.json"


class SpacyParser:
    """A spaCy pipeline's parser, on our words: one Doc a sentence, so that no tree crosses sentences.

    pipeline: the name of an installed package, or a folder.
    processes: how many parse at once; None: as many as there are cores, if there is enough to do.
    """

    def __init__(self, pipeline: str, *, processes: int | None = None) -> None:
        self.name = str(ParserSpec("spacy", pipeline))
        self._pipeline = pipeline
        self._folder = _find(pipeline)
        self._n_processes = n_cores() if processes is None else processes

    def identity(self) -> Identity:
        meta = _read_meta(self._folder)
        return Identity("spacy", self._pipeline, str(meta.get("version", "")), _digest(self._folder))

    def parse(self, sentences: Sequence[Words]) -> Iterator[Parse | Unparsed]:
        if self._n_processes > 1 and len(sentences) >= WORTH_PROCESSES:
            yield from self._processes.parse(sentences, BATCH)
            return
        for first in range(0, len(sentences), BATCH):
            yield from self._loaded.parse(sentences[first : first + BATCH])

    @cached_property
    def _loaded(self) -> Pipeline:
        return Pipeline(self._pipeline)

    @cached_property
    def _processes(self) -> Processes:
        assert self._loaded  # what is wrong with a pipeline is told here, not by a process
        return Processes("disconer.text.syntax.spacy_worker", self._pipeline, n=self._n_processes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._pipeline, self._n_processes)  # a loaded pipeline does not travel


def _again(pipeline: str, processes: int) -> SpacyParser:
    return SpacyParser(pipeline, processes=processes)


def _find(pipeline: str) -> Path:
    """The folder of a pipeline: one that is there, or an installed package's, which is found and not imported."""
    if importlib.util.find_spec("spacy") is None:
        raise DisconerError(
            f"The parser spacy:{pipeline} needs spaCy", fix="Install it: pip install 'disconer[spacy]'."
        )
    folder = Path(pipeline)
    if (folder / META).is_file():
        return folder
    spec = importlib.util.find_spec(pipeline) if pipeline.isidentifier() else None
    roots = list(spec.submodule_search_locations or ()) if spec else []
    if roots and (Path(roots[0]) / META).is_file():
        return Path(roots[0])
    raise DisconerError(
        f"There is no spaCy pipeline {pipeline!r}: no folder with a {META}, and no installed package",
        fix=_how_to_install(pipeline),
    )


def _how_to_install(pipeline: str) -> str:
    if f"spacy:{pipeline}" == BIOMEDICAL:
        return (
            f"It is disconer's biomedical parser: pip install ./parsers/{pipeline} in a checkout of disconer, or "
            "choose another with syntax.parser (docs/how-to/syntax.md)."
        )
    return (
        f"Install it (python -m spacy download {pipeline}; without internet: pip install its .whl file), or choose "
        "another with syntax.parser."
    )


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads((folder / META).read_bytes())
    except ValueError as error:
        raise DisconerError(
            "The description of this spaCy pipeline is damaged",
            where=Where(str(folder / META)),
            fix="Install it again.",
        ) from error
    return meta


def _digest(folder: Path) -> str:
    """A fingerprint of the pipeline's files: a folder may be trained anew under the same version."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            digest.update(path.relative_to(folder).as_posix().encode())
            with open(path, "rb") as stream:
                digest.update(hashlib.file_digest(stream, "blake2b").digest())
    return digest.hexdigest()
