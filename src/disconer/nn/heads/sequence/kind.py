"""The settings of the sequence head, and what the rest of disconer needs to know about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from disconer.config.section import Count, Fraction, HeadSettings
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.heads.kind import HeadGraphs, HeadKind, Proposal, RunGraph, share_expressed
from disconer.nn.heads.sequence.labels import Alphabet, sequence_reach
from disconer.nn.heads.sequence.reading import STEP, Decoder, SequenceReader
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.sequence.head import SequenceHead


class SequenceSettings(HeadSettings):
    """The sequence head: the labels of words, one after another, by an LSTM (Straková et al. 2019)."""

    kind: Literal["sequence"] = "sequence"
    max_labels: Count = Field(default=8, description="Maximum labels, and so entities, per word; more are missed.")
    label_size: Count = Field(default=32, description="Size of the embedding of a label.")
    size: Count = Field(default=256, description="Hidden units of the LSTM that generates the labels.")
    dropout: Fraction = Field(
        default=0.4, description="Dropout of the LSTM's input, and of what the labels are predicted from."
    )
    beam: Count = Field(default=1, description="Beam size in prediction; 1: greedy search.")


NUMBERS_PER_CELL = 128  # `HeadKind.cells` counts hundreds of numbers


class SequenceKind(HeadKind[SequenceSettings]):
    """See `HeadKind`."""

    name = "sequence"
    about = "an LSTM generates the labels of each word, one for each entity that it belongs to"
    settings = SequenceSettings
    variants = tuple(f"max_labels={most}" for most in (1, 2, 4, 8))

    def build(self, settings: SequenceSettings, labels: Sequence[str], *, word_size: int) -> SequenceHead:
        from disconer.nn.heads.sequence.head import build_sequence

        return build_sequence(
            labels=labels,
            word_size=word_size,
            label_size=settings.label_size,
            size=settings.size,
            dropout=settings.dropout,
            max_labels=settings.max_labels,
            beam=settings.beam,
        )

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: SequenceSettings) -> Reach:
        return sequence_reach((entity.key for entity in entities), n_words, settings.max_labels)

    def cells(self, n_words: int, settings: SequenceSettings, labels: Sequence[str]) -> int:
        per_path = 2 * settings.size + Alphabet(len(labels), settings.max_labels).size
        return n_words + settings.beam * (per_path // NUMBERS_PER_CELL + 1)  # vectors of words, and the states of paths

    def propose(self, survey: Survey, settings: SequenceSettings) -> Proposal[SequenceSettings]:
        share = share_expressed(self, survey, settings)
        return Proposal(settings, [f"Entities that labels of words can express: {share:.1%}."])

    def limits(self, settings: SequenceSettings, labels: Sequence[str]) -> Iterator[str]:
        yield f"None is discontinuous, and no word belongs to more than {settings.max_labels}."

    def graphs(self, head: SequenceHead) -> HeadGraphs:
        from disconer.nn.heads.sequence.head import sequence_graphs

        return sequence_graphs(head)

    def reader(
        self, settings: SequenceSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]
    ) -> SequenceReader:
        decoder = Decoder(labels, Alphabet(len(labels), settings.max_labels), settings.beam)
        return SequenceReader(decoder, graphs[STEP], settings.size)


SEQUENCE = SequenceKind()
