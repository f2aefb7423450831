"""What a kind of head is: all that the rest of disconer needs to know about it. No torch here.

A *kind* is one way of finding entities on top of word vectors: its settings, what it can express, what it costs, how
it is exported. It builds the *head* (`disconer.nn.interfaces.Head`), the part of a network that is trained. Nothing
outside a kind's folder knows how it works. Kinds are found by name, in `disconer.config.HEADS`; other packages add
theirs under the entry-point group `disconer.heads` (docs/how-to/heads.md).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from numpy.typing import NDArray

from disconer.config import HEADS, HeadSettings
from disconer.core.errors import DisconerError
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.arrays import WordArrays
from disconer.nn.windows import Found
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from torch import Tensor, nn

    from disconer.nn.interfaces import AnyHead


Axes = dict[int, str]  # of an input, the names of the axes that may have any size
Arrays = Mapping[str, NDArray[Any]]
RunGraph = Callable[[Arrays], list[NDArray[Any]]]  # from a graph's inputs to its outputs, in their order


@dataclass(frozen=True)
class Graph:
    """A module as a graph of its own.

    inputs: of the module, in order. example: values for tracing; every axis has a different size.
    """

    module: nn.Module
    inputs: Mapping[str, Axes]
    outputs: Sequence[str]
    example: tuple[Tensor, ...]


@dataclass(frozen=True)
class HeadGraphs:
    """A trained head as graphs.

    scores: the end of the graph of the whole network. Its module takes the words, (windows, words, d), the lengths,
        (windows,), and then the inputs named here, which the `ScoreReader` makes.
    further: graphs that the reader runs by itself, by name.
    """

    scores: Graph
    further: Mapping[str, Graph] = field(default_factory=dict)


NEAR = 0.1  # the lowest probability of a near miss


def near_threshold(threshold: float) -> float:
    """The lowest probability of what is given with near misses, if an entity has at least `threshold`."""
    return min(NEAR, threshold)


class ScoreReader(Protocol):
    """Makes entities from the outputs of a network's graph for a batch."""

    def inputs(self, batch: WordArrays) -> Arrays:
        """Inputs of the graph in addition to the batch."""
        ...

    def read(self, scores: Arrays, batch: WordArrays) -> list[list[Found]]:
        """The entities of each window. scores: the outputs of the graph, by name."""
        ...


S = TypeVar("S", bound=HeadSettings)


class Proposal(NamedTuple, Generic[S]):
    """Settings that fit some data, and sentences about what was found and chosen."""

    settings: S
    findings: Sequence[str] = ()


class HeadKind(Protocol[S]):
    """One way of finding entities. The registry holds one instance of each kind.

    Methods with a body are optional.

    name: what `head.kind` calls it.
    about: how it finds entities, in a few words that continue "the head `name`:".
    settings: the type of its section of the configuration.
    variants: settings that `disconer check` compares, in the form of its --set; those that lose most first.
    """

    name: str
    about: str
    settings: type[S]
    variants: Sequence[str] = ()

    @abstractmethod
    def build(self, settings: S, labels: Sequence[str], *, word_size: int) -> AnyHead:
        """A new head for word vectors of size `word_size`. Import torch here, not above."""
        ...

    @abstractmethod
    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: S) -> Reach:
        """The oracle: what a perfect head finds of the entities of a sentence or window of `n_words` words."""
        ...

    @abstractmethod
    def cells(self, n_words: int, settings: S, labels: Sequence[str]) -> int:
        """What a window of `n_words` words costs in prediction, in cells of a few hundred numbers each. This bounds the
        size of batches, and so memory.
        """
        ...

    def scores_labels_apart(self, settings: S) -> bool:
        """Whether what it finds of a label does not depend on which others it has: then some labels can be learned, and
        left out of the model that is saved (`data.labels`). Its `axis_names` must cover all that depends on labels.
        """
        return False

    def propose(self, survey: Survey, settings: S) -> Proposal[S]:
        """Settings fitted to data, for `disconer init`."""
        return Proposal(settings)

    def limits(self, settings: S, labels: Sequence[str]) -> Iterator[str]:
        """What it cannot find, as sentences for the model card."""
        yield from ()

    def graphs(self, head: Any) -> HeadGraphs:
        """A head as graphs, for ONNX Runtime. Import torch here, not above."""
        raise DisconerError(f"A head of kind {self.name} has no ONNX graph", fix="Use the model as it is, in torch.")

    def reader(self, settings: S, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> ScoreReader:
        """The reader that makes entities from the scores of the graph, without torch.

        graphs: what `graphs` gave beside the scores, by name.
        """
        raise DisconerError(f"A head of kind {self.name} does not run in ONNX Runtime", fix="Use torch.")

    def near_reader(self, settings: S, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> ScoreReader:
        """A reader that also gives near misses: entities of a probability of `NEAR` or more. In torch: `NearHead`."""
        return self.reader(settings, labels, graphs=graphs)

    def fetched_reader(
        self, settings: S, labels: Sequence[str], *, near: bool = False
    ) -> Callable[[Any], list[list[Found]]] | None:
        """A function that makes the entities of each window from the result of the head's `fetch`, without torch.

        None: the head has no such method. near: with near misses, as `fetch` brings them if the head is a `NearHead`.
        """
        return None


def share_expressed(kind: HeadKind[S], survey: Survey, settings: S) -> float:
    """The fraction of the entities of some data that a perfect head of this kind finds."""
    reaches = [kind.reach(own, n_words, settings) for n_words, own in survey.sentences]
    lost = sum(len(reach.lost) for reach in reaches)
    total = sum(len({entity.key for entity in own}) for _, own in survey.sentences)
    return 1 - lost / max(1, total)


def head_kind(name: str) -> HeadKind[Any]:
    """The kind of that name."""
    return cast(HeadKind[Any], HEADS.get(name))


def all_head_kinds() -> Iterator[HeadKind[Any]]:
    """Every kind that can be loaded, disconer's own first. Others cause a warning."""
    return (cast(HeadKind[Any], kind) for _, kind in HEADS.loadable())


def kind_of(settings: HeadSettings) -> HeadKind[Any]:
    """The kind that these settings belong to."""
    return head_kind(settings.kind)
