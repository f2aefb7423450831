"""What a kind of heads is: all that the rest of disconer needs to know of one. No torch here.

A *kind* is one way of finding entities on top of word vectors: its settings, what it can express, what it costs, what
it says of itself. It builds the *head* (`disconer.nn.heads.head`), the part of a network that is trained. Nothing
outside a kind's folder knows how it works. Kinds are found by name, in `disconer.config.HEADS`; other packages add
theirs under the entry-point group `disconer.heads` (docs/how-to/heads.md).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from disconer.config import HEADS, HeadSettings
from disconer.core.errors import DisconerError
from disconer.evaluate.ceiling import Reach
from disconer.evaluate.survey import Survey
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.exported import HeadGraphs, RunGraph, ScoreReader
    from disconer.nn.heads.head import AnyHead

S = TypeVar("S", bound=HeadSettings)


class Proposal(NamedTuple, Generic[S]):
    """Settings that suit some data, and sentences on what was found and chosen."""

    settings: S
    findings: Sequence[str] = ()


class HeadKind(Protocol[S]):
    """One way of finding entities. The registry holds one instance of each kind.

    Methods with a body may stay as they are.

    name: what `head.kind` calls it.
    about: how it finds entities, in a few words that follow on "the head `name`:".
    settings: the type of its section of the configuration.
    variants: settings that `disconer check` compares, as its --set takes them, those that lose most first.
    """

    name: str
    about: str
    settings: type[S]
    variants: Sequence[str] = ()

    @abstractmethod
    def build(self, settings: S, labels: Sequence[str], *, word_size: int) -> AnyHead:
        """A fresh head for words that are vectors of `word_size` numbers. Import torch here, not above."""
        ...

    @abstractmethod
    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: S) -> Reach:
        """The oracle: what a faultless head finds of the entities of a sentence, or of a window, of so many words."""
        ...

    @abstractmethod
    def cells(self, n_words: int, settings: S, labels: Sequence[str]) -> int:
        """What a window of so many words costs in prediction: about how many times the head keeps a few hundred
        numbers for it. This bounds the size of batches, and so memory.
        """
        ...

    def propose(self, survey: Survey, settings: S) -> Proposal[S]:
        """Settings fitted to data, for `disconer init`."""
        return Proposal(settings)

    def limits(self, settings: S, labels: Sequence[str]) -> Iterator[str]:
        """What it can never find, as sentences for the model card."""
        yield from ()

    def graphs(self, head: Any) -> HeadGraphs:
        """A head as graphs, for ONNX Runtime. Import torch here, not above."""
        raise DisconerError(f"A head of kind {self.name} has no ONNX graph", fix="Use the model as it is, in torch.")

    def reader(self, settings: S, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> ScoreReader:
        """What makes entities of the scores of the graph, without torch.

        graphs: what `graphs` gave beside the scores, by name.
        """
        raise DisconerError(f"A head of kind {self.name} does not run in ONNX Runtime", fix="Use torch.")


def head_kind(name: str) -> HeadKind[Any]:
    """The kind of that name."""
    return cast(HeadKind[Any], HEADS.get(name))


def kind_of(settings: HeadSettings) -> HeadKind[Any]:
    """The kind that settings are for."""
    return head_kind(settings.kind)
