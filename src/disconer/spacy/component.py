"""The pipeline component: `nlp.add_pipe("disconer", config={"model": "runs/chia"})`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import raise_error

from disconer.core.errors import DisconerError, DisconerWarning
from disconer.core.ledger import Ledger
from disconer.core.sentence import Sentence
from disconer.core.types import Document
from disconer.formats.docbin.documents import has_sentences, sentences_of
from disconer.formats.docbin.groups import KEY, Placed, place, write_group
from disconer.predict.settings import Precision
from disconer.spacy.held import Held
from disconer.text import SPLITTERS, TOKENIZERS, SplitterName, splitter_named

if TYPE_CHECKING:
    from disconer.predict.recognizer import Recognizer

DISCONTINUOUS = "discontinuous entities left out of doc.ents"
OVERLAPPING = "overlapping entities left out of doc.ents"


def fill_ents(doc: Doc, placed: Placed, ledger: Ledger) -> None:
    """Add entities to `doc.ents` where they fit: one fragment, no overlap with existing entities.

    Among overlapping entities, the highest score wins, then the longest, then the leftmost. Entities set by other
    components are kept.
    """
    contiguous = [(spans[0], score or 0.0) for spans, score in placed.spans if len(spans) == 1]
    ledger.lost(DISCONTINUOUS, len(placed.spans) - len(contiguous))
    taken = {token.i for token in doc if token.ent_iob_ in ("B", "I")}
    chosen: list[Span] = []
    for span, _ in sorted(contiguous, key=lambda pair: (-pair[1], pair[0].start - pair[0].end, pair[0].start)):
        if taken.isdisjoint(range(span.start, span.end)):
            taken.update(range(span.start, span.end))
            chosen.append(span)
    ledger.lost(OVERLAPPING, len(contiguous) - len(chosen))
    doc.set_ents(chosen, default="unmodified" if doc.has_annotation("ENT_IOB") else "outside")


FACTORY = "disconer"
BATCH_SIZE = 64

LEFT_OUT = "entities left out of doc.spans: they start or end inside a spaCy token"
WIDENED = "entities expanded in doc.spans: they start or end inside a spaCy token"
ADVICE = {
    LEFT_OUT: "doc._.disconer has them. Set alignment_mode to 'expand' to cover whole tokens.",
    WIDENED: "doc._.disconer has the exact offsets.",
}


class DisconerComponent:
    """Finds entities and adds them to Docs; see `make_component`."""

    def __init__(
        self,
        *,
        name: str,
        held: Held,
        spans_key: str,
        set_ents: bool,
        alignment_mode: Literal["strict", "expand"],
        tokens: Literal["disconer", "spacy"],
        splitter: SplitterName | None = None,
    ) -> None:
        self.name = name
        self.splitter = splitter
        self.spans_key, self.set_ents, self.alignment_mode, self.tokens = spans_key, set_ents, alignment_mode, tokens
        self.ledger = Ledger()  # what did not fit, over all runs
        self._held = held
        self._error_handler: Callable[..., Any] = raise_error

    @property
    def recognizer(self) -> Recognizer:
        """The model, loaded on first use."""
        return self._held.get()

    @recognizer.setter
    def recognizer(self, recognizer: Recognizer) -> None:
        self._held.give(recognizer)

    @property
    def parser(self) -> str | None:
        """The parser to use instead of the model's own. Set it here if a saved pipeline names one that is refused."""
        return self._held.parser

    @parser.setter
    def parser(self, parser: str | None) -> None:
        self._held.ask_for(parser)

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's labels, once it is loaded: spaCy also asks earlier."""
        return self._held.loaded.labels if self._held.loaded else ()

    def __call__(self, doc: Doc) -> Doc:
        ledger = Ledger()
        self._annotate([doc], ledger)
        self._settle(ledger)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH_SIZE) -> Iterator[Doc]:
        """Docs in order, processed in batches; alignment problems are reported once, at the end."""
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
        found = list(self.recognizer.annotate(documents))  # all of them, before any Doc is changed
        for doc, document in zip(docs, found, strict=True):
            placed = place(doc, document.entities, self.alignment_mode)
            write_group(doc, placed, self.spans_key)
            ledger.lost(LEFT_OUT, len(placed.left_out))
            ledger.lost(WIDENED, len(placed.widened))
            if self.set_ents:
                fill_ents(doc, placed, ledger)

    def _sentences(self, doc: Doc) -> tuple[Sentence, ...] | None:
        """The sentences and tokens for the model; None: the recogniser segments the text itself."""
        chosen = None if self.splitter is None else splitter_named(self.splitter)
        if self.tokens == "spacy":
            use_own = chosen is None and not has_sentences(doc)
            return sentences_of(doc, SPLITTERS[self.recognizer.splitter] if use_own else chosen)
        if chosen is None and not has_sentences(doc):
            return None
        text, tokenizer = doc.text, TOKENIZERS[self.recognizer.model.config.data.tokenizer]
        ranges = chosen(text) if chosen else [(marked.start, marked.end) for marked in sentences_of(doc) or ()]
        return tuple(Sentence(start, end, tokenizer(text, start, end)) for start, end in ranges)

    def _settle(self, ledger: Ledger) -> None:
        """Add a run's ledger to the total, and warn about settings that the user may want to change."""
        self.ledger.losses.update(ledger.losses)
        for what, advice in ADVICE.items():
            if ledger.losses[what]:
                warnings.warn(f"{ledger.losses[what]} {what}. {advice}", DisconerWarning, stacklevel=3)

    def set_error_handler(self, error_handler: Callable[..., Any]) -> None:
        self._error_handler = error_handler

    def get_error_handler(self) -> Callable[..., Any]:
        return self._error_handler

    # The model is saved with the pipeline, so that it loads without its original location.

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        self._held.to_disk(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> DisconerComponent:
        self._held.from_disk(Path(path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        data: bytes = srsly.msgpack_dumps(self._held.to_bytes())
        return data

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> DisconerComponent:
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
    splitter: SplitterName | None = None,
    labels: list[str] | None = None,
    threshold: float | None = None,
    parser: str | None = None,
    precision: Precision = "fp32",
) -> DisconerComponent:
    """Create the component from a pipeline's config.

    model: a folder, a training run, a package or a name on the Hub; None: the default.
    device: "cpu", "cuda", …; None: a GPU if available.
    spans_key: key of the span group to write.
    set_ents: also set `doc.ents`, where entities fit; see `fill_ents`.
    alignment_mode: what to do if an entity starts or ends inside a spaCy token: leave it out (strict), or cover the
        whole token (expand).
    tokens: which tokens the model uses: its own (disconer), or those of the Doc, with its sentences and heads if set
        (spacy). With the latter every entity fits, but the model may not have seen such tokens in training.
    splitter: "rules" or "lines"; None: the sentences of the Doc, or if it has none, the model's splitter.
    labels, threshold: of the entities to keep; None: all labels, and those that the model reports; see `Recognizer`.
    parser: used for dependency heads instead of the model's own, see `Recognizer`. The config of a saved pipeline
        names installed parsers only: others are set as `parser` of the component, after `spacy.load`.
    precision: "int8" is faster on CPUs with VNNI, "bf16" on GPUs; see `Recognizer`.
    """
    _refuse_shared_key(nlp, name, spans_key)
    held = Held(model, device=device, precision=precision, parser=parser, labels=labels, threshold=threshold)
    return DisconerComponent(
        name=name,
        held=held,
        spans_key=spans_key,
        set_ents=set_ents,
        alignment_mode=alignment_mode,
        tokens=tokens,
        splitter=splitter,
    )


def _refuse_shared_key(nlp: Language, name: str, spans_key: str) -> None:
    """Two components with one key: the second would replace what the first has found."""
    for other, component in nlp.components:
        if other != name and isinstance(component, DisconerComponent) and component.spans_key == spans_key:
            raise DisconerError(
                f"The components {other!r} and {name!r} would both write doc.spans[{spans_key!r}], and only the "
                "entities of the last would remain",
                fix=f'Give one of them another key, such as config={{"spans_key": "{name}"}}.',
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
        "splitter": None,
        "labels": None,
        "threshold": None,
        "parser": None,
        "precision": "fp32",
    },
    func=make_component,
)
