"""The recogniser: raw text in, documents with entities out."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sized
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar, get_args, overload

from disconer.core.background import made_ahead
from disconer.core.errors import DisconerError
from disconer.core.ledger import Ledger
from disconer.core.progress import note
from disconer.core.progress import progress as show_progress
from disconer.core.types import Document
from disconer.nn.runtime import AnyModel, Device, Precision, Runtime, RuntimeName
from disconer.nn.windows import Windower
from disconer.predict.chunks import (
    DOCUMENTS_AHEAD,
    Chunk,
    Chunker,
    Wanted,
    as_documents,
    chunk_documents,
    completed,
    known_labels,
    remembered,
    wanted_entities,
)
from disconer.predict.loading import load
from disconer.predict.parsing import with_heads
from disconer.store.names import find_model
from disconer.text import SplitterName
from disconer.text.syntax.attach import Account
from disconer.text.syntax.spec import chosen_syntax
from disconer.text.unused_splitter import UnusedSplitter

T = TypeVar("T")


class Recognizer:
    """Finds the entities of texts.

    >>> ner = Recognizer.from_pretrained("runs/chia")  # doctest: +SKIP
    >>> ner("History of severe renal or hepatic impairment.").entities  # doctest: +SKIP
    """

    def __init__(
        self,
        model: AnyModel,
        *,
        device: Device = None,
        precision: Precision = "fp32",
        parser: str | None = None,
        keep_parses: bool = False,
        labels: Collection[str] | None = None,
        threshold: float | None = None,
        splitter: SplitterName | None = None,
    ) -> None:
        """Create a recogniser from a loaded model.

        device: as torch names devices; None: the first GPU if there is one, else the CPU.
        precision: bf16 (torch) is faster on GPUs, int8 (ONNX Runtime) on CPUs with VNNI; close decisions may differ.
            "auto": int8 on such CPUs if the model's card shows a loss of at most 0.3 F1, else fp32.
        parser: used for dependency heads instead of the parser that the model was trained with; "none": do not
            parse. A model's own parser must be an installed one: addresses and paths have to be given here.
        keep_parses: cache trees on disk, so that the same text is not parsed again.
        labels: of the entities to keep; None for all.
        threshold: the lowest score of the entities to keep, whether or not the model would report them by itself: a low
            one finds more, at a lower precision. None: those that the model reports.
        splitter: of texts without sentences, "rules" (prose, lists and wrapped lines) or "lines" (a sentence is a
            line); None: the one that the model was configured with. Documents that have sentences keep them.
        """
        if isinstance(model, str | os.PathLike):
            raise TypeError(f"a recogniser is made of a loaded model; use Recognizer.from_pretrained({str(model)!r})")
        if precision not in (known := get_args(Precision)):
            raise DisconerError(f"There is no precision {precision!r}", expected=f"one of {', '.join(known)}")
        self.model = model
        self.labels = known_labels(model.labels, labels)
        self.threshold = threshold
        wanted_entities(tuple(self.labels), threshold)  # an invalid threshold is refused here
        self.parsing = Account()  # counts sentences, if the model uses dependency heads
        syntax = model.config.syntax
        own_parser = syntax.parser if syntax.needed else None
        self._syntax = chosen_syntax(parser, own_parser, missing=syntax.missing, cache=keep_parses)
        self._runtime = model.runtime(device, precision)
        self._windower = Windower(model.config, model.reader, model.max_subwords, splitter=splitter)
        self._unused_splitter = UnusedSplitter(splitter) if splitter else None
        self._chunker = Chunker(self._windower, model, self._runtime)

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str],
        *,
        runtime: RuntimeName | None = None,
        device: Device = None,
        precision: Precision = "fp32",
        parser: str | None = None,
        keep_parses: bool = False,
        labels: Collection[str] | None = None,
        threshold: float | None = None,
        splitter: SplitterName | None = None,
    ) -> Recognizer:
        """Load a model: its name or folder, that of a training run (then its best), a package or a name on the Hub.

        runtime: "onnx" (ONNX Runtime, on CPUs) or "torch", which needs `disconer[train]`; None: torch where there is
            a GPU, else ONNX Runtime. Both find the same.
        """
        return cls(
            load(find_model(name_or_path), runtime=runtime, device=device, precision=precision),
            device=device,
            precision=precision,
            parser=parser,
            keep_parses=keep_parses,
            labels=labels,
            threshold=threshold,
            splitter=splitter,
        )

    def save_pretrained(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a folder that `from_pretrained` reads."""
        self.model.save(Path(path))

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool | None = None,
        token: str | None = None,
        commit_message: str = "Add model",
    ) -> str:
        """Upload the model with its card to the Hugging Face Hub, where `from_pretrained(repo_id)` finds it.

        repo_id: "name" or "organisation/name"; the repository is created if there is none.
        private: whether a new repository is; None: the account's setting. token: None: the one that is logged in.
        Returns the address of the repository.
        """
        from disconer.store.hub import push_folder

        with TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            return push_folder(Path(folder), repo_id, private=private, token=token, message=commit_message)

    @property
    def runtime(self) -> RuntimeName:
        """What runs the network."""
        return self._runtime.name

    @property
    def device(self) -> str:
        """The device of the network, as torch names it."""
        return self._runtime.device

    @property
    def splitter(self) -> SplitterName:
        """The sentence splitter of texts without sentences."""
        return self._windower.splitter

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.labels)} labels, runtime={self.runtime!r}, device={self.device!r})"

    def __call__(
        self,
        text: str,
        *,
        id: str = "text-1",
        labels: Collection[str] | None = None,
        threshold: float | None = None,
    ) -> Document:
        """The entities of one text.

        id: of the document. labels, threshold: for this call, instead of the recogniser's own.
        """
        if not isinstance(text, str):
            raise TypeError(f"a recogniser reads one text (str), got {type(text).__name__}; for many, use pipe(texts)")
        wanted, chunk = self._wanted(labels, threshold), self._prepare([Document(id, text)])
        for found in self._runtime_for(wanted).find(chunk.batches):
            chunk.found.append(found)
            note(chunk.done)
        return next(chunk.annotated(self.model.scale, wanted))

    @overload
    def pipe(
        self,
        texts: Iterable[str],
        *,
        ids: Iterable[str] | None = None,
        as_tuples: Literal[False] = False,
        labels: Collection[str] | None = None,
        threshold: float | None = None,
        batch_size: int = DOCUMENTS_AHEAD,
        progress: bool = False,
    ) -> Iterator[Document]: ...
    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str, T]],
        *,
        as_tuples: Literal[True],
        labels: Collection[str] | None = None,
        threshold: float | None = None,
        batch_size: int = DOCUMENTS_AHEAD,
        progress: bool = False,
    ) -> Iterator[tuple[Document, T]]: ...
    def pipe(
        self,
        texts: Iterable[Any],
        *,
        ids: Iterable[str] | None = None,
        as_tuples: bool = False,
        labels: Collection[str] | None = None,
        threshold: float | None = None,
        batch_size: int = DOCUMENTS_AHEAD,
        progress: bool = False,
    ) -> Iterator[Any]:
        """The entities of many texts, streaming, in their order; up to `batch_size` texts are processed together.

        ids: of the documents, as many as texts; None: text-1, text-2, …
        as_tuples: texts are pairs (text, anything), and so are results: (document, anything), as in spaCy.
        """
        if isinstance(texts, str):
            raise TypeError("pipe takes an iterable of texts; for a single text, call the recogniser itself")
        chosen: dict[str, Any] = {"labels": labels, "threshold": threshold, "batch_size": batch_size}
        if not as_tuples:
            return self.annotate(as_documents(texts, ids), progress=progress, **chosen)
        if ids is not None:
            raise TypeError("pipe takes ids or as_tuples, not both")
        waiting: deque[Any] = deque()
        found = self.annotate(as_documents(remembered(texts, waiting)), progress=progress, **chosen)
        return ((document, waiting.popleft()) for document in found)

    def annotate(
        self,
        documents: Iterable[Document],
        *,
        labels: Collection[str] | None = None,
        threshold: float | None = None,
        batch_size: int = DOCUMENTS_AHEAD,
        progress: bool = False,
    ) -> Iterator[Document]:
        """Documents with predicted entities instead of their own; everything else is kept.

        Missing sentences are added, and missing dependency heads if the model uses them.
        labels, threshold: for this call, instead of the recogniser's own. progress: count documents on stderr.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}")
        wanted = self._wanted(labels, threshold)
        n_documents = len(documents) if isinstance(documents, Sized) else None
        found = self._annotate(chunk_documents(documents, batch_size), wanted)
        return show_progress(found, "documents", n_documents, shown=True) if progress else found

    def annotate_blocks(self, blocks: Iterable[list[Document]]) -> Iterator[Document]:
        """Like `annotate`, but what is processed together is of one block: results do not depend on the others."""
        chunks = (chunk for block in blocks for chunk in chunk_documents(block, DOCUMENTS_AHEAD))
        return self._annotate(chunks, self._wanted(None, None))

    def _wanted(self, labels: Collection[str] | None, threshold: float | None) -> Wanted:
        chosen = self.labels if labels is None else known_labels(self.model.labels, labels)
        return wanted_entities(tuple(chosen), self.threshold if threshold is None else threshold)

    def _runtime_for(self, wanted: Wanted) -> Runtime:
        return self._runtime if wanted.threshold is None else self._near_runtime

    @cached_property
    def _near_runtime(self) -> Runtime:
        return self._runtime.near()

    @property
    def parses(self) -> bool:
        """Whether it gives sentences their heads."""
        return self._syntax is not None

    def account(self, ledger: Ledger) -> None:
        """Add the counts of dependency heads since the last call to a ledger."""
        if self.parses:
            self.parsing.enter(ledger)
            self.parsing = Account()

    def _annotate(self, chunks: Iterable[list[Document]], wanted: Wanted) -> Iterator[Document]:
        """The next chunk is prepared while the network works on one."""
        prepared = made_ahead(self._prepare, chunks, ahead=1)
        for chunk in completed(prepared, self._runtime_for(wanted)):
            yield from chunk.annotated(self.model.scale, wanted)

    def _prepare(self, documents: list[Document]) -> Chunk:
        """Everything up to the network."""
        if self._unused_splitter:
            self._unused_splitter.see(documents)
        segmented = [self._windower.segment(document) for document in documents]
        return self._chunker(with_heads(segmented, self._syntax, self.parsing) if self._syntax else segmented)
