"""Trees from any installed spaCy pipeline that has a parser."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from disconer.core.cores import usable_cores
from disconer.core.errors import DisconerError, Where, excerpt
from disconer.text.syntax.parser import Identity, Parse, Unparsed, Words
from disconer.text.syntax.processes import Processes, serve
from disconer.text.syntax.spec import BIOMEDICAL, ParserSpec

ROOT = -1
# Usual names of components that no parser needs; they are not loaded.
UNUSED = ["ner", "tagger", "morphologizer", "lemmatizer", "trainable_lemmatizer", "attribute_ruler", "senter"]
HEADS = "token.head"  # which every component that is a parser assigns


class Pipeline:
    """The parser of a pipeline and the components that it needs."""

    def __init__(self, name: str) -> None:
        self._nlp = _load(name)
        self._one_at_a_time = Lock()  # memory zones do not nest, and a service may have several threads

    def parse(self, sentences: Sequence[Words]) -> list[Parse | Unparsed]:
        """Answers for sentences. If they cannot be parsed together, each is tried alone."""
        try:
            return self._parse(sentences)
        except Exception as error:  # components may raise anything
            if len(sentences) > 1:
                return [answer for words in sentences for answer in self.parse([words])]
            # Only the kind of error: its words may quote the text, and land in logs.
            return [Unparsed(f"spaCy failed: {type(error).__name__}", lasting=False)]

    def _parse(self, sentences: Sequence[Words]) -> list[Parse | Unparsed]:
        from spacy.tokens import Doc

        vocab = self._nlp.vocab
        with self._one_at_a_time, self._nlp.memory_zone():  # frees memory afterwards: a service reads many words
            docs = [
                Doc(vocab, [*words.texts], [*words.spaces], sent_starts=[True, *[False] * (len(words) - 1)])
                for words in sentences
            ]
            return [_parse_of(doc) for doc in self._nlp.pipe(docs)]


def _parse_of(doc: Any) -> Parse:
    heads = [token.head.i for token in doc]
    return Parse(
        tuple([token.text for token in doc]),
        tuple([ROOT if head == word else head for word, head in enumerate(heads)]),
        tuple([token.dep_ for token in doc]),
    )


def _load(name: str) -> Any:
    import spacy

    try:
        nlp = spacy.load(name, exclude=UNUSED)
    except Exception as error:  # of its own: other versions, missing registered functions, damaged files
        raise DisconerError(
            f"The spaCy pipeline {name!r} cannot be loaded",
            got=excerpt(str(error) or type(error).__name__, 160),
            fix="Install it again, in a version that fits the installed spaCy (python -m spacy validate).",
        ) from error
    parser = next((pipe for pipe in nlp.pipe_names if HEADS in nlp.get_pipe_meta(pipe).assigns), None)
    if parser is None:
        raise DisconerError(
            f"The spaCy pipeline {name!r} has no parser",
            got=f"the components {', '.join(nlp.pipe_names) or '(none)'}",
            fix="Choose another with syntax.parser.",
        )
    for pipe in nlp.pipe_names:
        if pipe != parser and parser not in getattr(nlp.get_pipe(pipe), "listening_components", ()):
            nlp.remove_pipe(pipe)
    return nlp


WORTH_PROCESSES = 4000  # sentences: eight seconds of work for one process, and several take three to start
BATCH = 128  # sentences that a process gets at once
META = "meta.json"


class SpacyParser:
    """A spaCy pipeline's parser, on our words: one Doc per sentence, so that no tree crosses sentences.

    pipeline: the name of an installed package, or a folder.
    processes: how many parse at once; None: as many as there are cores, if there is enough to do.
    """

    def __init__(self, pipeline: str, *, processes: int | None = None) -> None:
        self.name = str(ParserSpec("spacy", pipeline))
        self._pipeline = pipeline
        self._folder = _find(pipeline)
        self._n_processes = usable_cores() if processes is None else processes

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
        assert self._loaded  # errors of a pipeline are raised here, not in a worker
        return Processes("disconer.text.syntax.spacy", self._pipeline, n=self._n_processes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._pipeline, self._n_processes)  # a loaded pipeline is not pickled


def _again(pipeline: str, processes: int) -> SpacyParser:
    return SpacyParser(pipeline, processes=processes)


def _find(pipeline: str) -> Path:
    """The folder of a pipeline: an existing one, or that of an installed package, which is not imported."""
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
    """A fingerprint of the pipeline's files: a pipeline may be retrained under the same version."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            digest.update(path.relative_to(folder).as_posix().encode())
            with open(path, "rb") as stream:
                digest.update(hashlib.file_digest(stream, "blake2b").digest())
    return digest.hexdigest()


def main() -> None:
    """Parse in a process of its own, for `processes.Processes`."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # only answers may go to stdout, whatever a pipeline prints
    serve(Pipeline(sys.argv[1]).parse, sys.stdin, answers)


if __name__ == "__main__":
    main()
