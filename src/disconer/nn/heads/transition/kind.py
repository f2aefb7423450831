"""The settings of the transition head, and what the rest of disconer needs to know about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from disconer.config.section import Count, Fraction, HeadSettings, Section
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.heads.kind import HeadKind, Proposal, share_expressed
from disconer.nn.heads.transition.oracle import transition_reach
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.transition.head import TransitionHead


class TransitionSection(Section):
    """Actions on a stack of spans. Other heads may have it as a section of theirs."""

    stack: Count = Field(default=400, description="Size of a span's vectors: tree LSTM and stack LSTM.")
    actions: Count = Field(default=20, description="Size of an action's embedding, and of the LSTM over actions.")
    hidden: Count = Field(default=200, description="Hidden units of the network that scores actions.")
    dropout: Fraction = Field(default=0.4, description="Dropout of the input and the hidden units of that network.")
    beam: Count = Field(default=1, description="Beam size in prediction; 1: greedy search.")


class TransitionSettings(TransitionSection, HeadSettings):
    """The transition head: actions on a stack of spans, one after another (Dai et al. 2020)."""

    kind: Literal["transition"] = "transition"


LIMITS = (
    "No two have the same words.",
    "Of entities whose words alternate, and of coordinations of two with two, it misses at least one.",
)
NUMBERS_PER_CELL = 128  # `HeadKind.cells` counts hundreds of numbers
VECTORS_PER_NODE = 4


def build_transition(settings: TransitionSection, labels: Sequence[str], *, word_size: int) -> TransitionHead:
    from disconer.nn.heads.transition.head import make_head

    return make_head(
        labels=labels,
        word_size=word_size,
        stack_size=settings.stack,
        past_size=settings.actions,
        hidden=settings.hidden,
        dropout=settings.dropout,
        beam=settings.beam,
    )


def transition_cells(n_words: int, settings: TransitionSection) -> int:
    """See `HeadKind.cells`."""
    per_node = VECTORS_PER_NODE * settings.stack // NUMBERS_PER_CELL + 1
    return n_words * settings.beam * per_node  # about a node for each word


class TransitionKind(HeadKind[TransitionSettings]):
    """See `HeadKind`."""

    name = "transition"
    about = "actions, one after another, shift words onto a stack of spans, join spans, and complete them as entities"
    settings = TransitionSettings

    def build(self, settings: TransitionSettings, labels: Sequence[str], *, word_size: int) -> TransitionHead:
        return build_transition(settings, labels, word_size=word_size)

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: TransitionSettings) -> Reach:
        return transition_reach((entity.key for entity in entities), n_words)

    def cells(self, n_words: int, settings: TransitionSettings, labels: Sequence[str]) -> int:
        return transition_cells(n_words, settings)

    def propose(self, survey: Survey, settings: TransitionSettings) -> Proposal[TransitionSettings]:
        made = share_expressed(self, survey, settings)
        return Proposal(settings, [f"Entities that actions on a stack can make: {made:.1%}."])

    def limits(self, settings: TransitionSettings, labels: Sequence[str]) -> Iterator[str]:
        yield from LIMITS


TRANSITION = TransitionKind()
