"""The pipeline component: `nlp.add_pipe("disconer", config={"model": "runs/chia"})`."""

# No `from __future__ import annotations`: spaCy reads the types of `make_component` to check a pipeline's config.

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import raise_error

from disconer.core.errors import DisconerWarning
from disconer.core.ledger import Ledger
from disconer.core.types import Document, Sentence
from disconer.formats.docbin.groups import KEY, place, write_group
from disconer.formats.docbin.sentences import sentences_of
from disconer.spacy.ents import fill_ents
from disconer.spacy.held import Held
from disconer.text import SPLITTERS

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer

FACTORY = "disconer"
BATCH_SIZE = 64

LEFT_OUT = "entities left out of doc.spans: they begin or end inside a spaCy token"
WIDENED = "entities made wider in doc.spans: they begin or end inside a spaCy token"
ADVICE = {
    LEFT_OUT: "doc._.disconer has them. Set alignment_mode to 'expand' to have whole tokens covered.",
    WIDENED: "doc._.disconer has them as they are.",
}


class DisconerComponent:
    """Finds entities and writes them into Docs; see `make_component`."""

    def __init__(
        self,
        *,
        name: str,
        held: Held,
        spans_key: str,
        set_ents: bool,
        alignment_mode: Literal["strict", "expand"],
        tokens: Literal["disconer", "spacy"],
    ) -> None:
        self.name = name
        self.spans_key, self.set_ents, self.alignment_mode, self.tokens = spans_key, set_ents, alignment_mode, tokens
        self.ledger = Ledger()  # what did not fit, over all runs
        self._held = held
        self._error_handler: Callable[..., Any] = raise_error

    @property
    def recognizer(self) -> "Recognizer":
        """The model at work; asked for, it is loaded."""
        return self._held.get()

    @recognizer.setter
    def recognizer(self, recognizer: "Recognizer") -> None:
        self._held.loaded = recognizer

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the model, once it is loaded: spaCy asks for them before that, too."""
        return self._held.loaded.labels if self._held.loaded else ()

    def __call__(self, doc: Doc) -> Doc:
        ledger = Ledger()
        self._annotate([doc], ledger)
        self._settle(ledger)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Docs in their order, so many looked at together; what did not fit is said once, at the end."""
        ledger = Ledger()
        try:
            for docs in _batches(stream, batch_size):
                try:
                    self._annotate(docs, ledger)
                except Exception as error:
                    self._error_handler(self.name, self, docs, error)
                else:
                    yield from docs
        finally:
            self._settle(ledger)

    def _annotate(self, docs: list[Doc], ledger: Ledger) -> None:
        documents = [
            Document(f"doc-{number}", doc.text, sentences=self._sentences(doc)) for number, doc in enumerate(docs, 1)
        ]
        found = list(self.recognizer.annotate(documents))  # all, before any Doc is changed
        for doc, document in zip(docs, found, strict=True):
            placed = place(doc, document.entities, self.alignment_mode)
            write_group(doc, placed, self.spans_key)
            ledger.lost(LEFT_OUT, len(placed.left_out))
            ledger.lost(WIDENED, len(placed.widened))
            if self.set_ents:
                fill_ents(doc, placed, ledger)

    def _sentences(self, doc: Doc) -> tuple[Sentence, ...] | None:
        """What the model is given to work on; None: it cuts the text itself."""
        if self.tokens == "disconer":
            return None
        return sentences_of(doc, SPLITTERS[self.recognizer.model.config.data.splitter])

    def _settle(self, ledger: Ledger) -> None:
        """Add the account of a run to that of all, and say what the user may want to change."""
        self.ledger.losses.update(ledger.losses)
        for what, advice in ADVICE.items():
            if ledger.losses[what]:
                warnings.warn(f"{ledger.losses[what]} {what}. {advice}", DisconerWarning, stacklevel=3)

    def set_error_handler(self, error_handler: Callable[..., Any]) -> None:
        self._error_handler = error_handler

    def get_error_handler(self) -> Callable[..., Any]:
        return self._error_handler

    # The model goes with the pipeline, so that both move as one and load without the place they came from.

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        self._held.to_disk(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "DisconerComponent":
        self._held.from_disk(Path(path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        data: bytes = srsly.msgpack_dumps(self._held.to_bytes())
        return data

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "DisconerComponent":
        self._held.from_bytes(srsly.msgpack_loads(data))
        return self


def _batches(stream: Iterable[Doc], size: int) -> Iterator[list[Doc]]:
    docs = iter(stream)
    while batch := list(islice(docs, size)):
        yield batch


def make_component(
    nlp: Language,
    name: str,
    model: str | None,
    device: str | None,
    spans_key: str,
    set_ents: bool,
    alignment_mode: Literal["strict", "expand"],
    tokens: Literal["disconer", "spacy"],
) -> DisconerComponent:
    """The component, from a pipeline's config.

    model: a folder, a training run, a package or a name on the Hub; None: the default one.
    device: "cpu", "cuda", …; None: a GPU if there is one.
    spans_key: of the span group that is written.
    set_ents: put entities into `doc.ents` too, those that fit there; see `fill_ents`.
    alignment_mode: what to do if an entity begins or ends inside a spaCy token: leave it out (strict), or cover the
        whole token (expand).
    tokens: whose tokens the model works on: its own (disconer), or those of the Doc, with its sentences and heads
        where it has them (spacy). With the latter every entity fits, but the model may not know such tokens.
    """
    held = Held(model, device)
    return DisconerComponent(
        name=name,
        held=held,
        spans_key=spans_key,
        set_ents=set_ents,
        alignment_mode=alignment_mode,
        tokens=tokens,
    )


Language.factory(
    FACTORY,
    assigns=["doc.spans"],
    default_config={
        "model": None,
        "device": None,
        "spans_key": KEY,
        "set_ents": False,
        "alignment_mode": "strict",
        "tokens": "disconer",
    },
    func=make_component,
)
