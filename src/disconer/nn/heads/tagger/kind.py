"""The tagger as the rest of disconer knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from disconer.evaluate.ceiling import Reach
from disconer.evaluate.survey import Survey
from disconer.nn.heads.exported import HeadGraphs, RunGraph
from disconer.nn.heads.kind import HeadKind, Proposal
from disconer.nn.heads.tagger.oracle import propose_scheme, tag_reach
from disconer.nn.heads.tagger.reading import TagReader
from disconer.nn.heads.tagger.schemes import SCHEMES
from disconer.nn.heads.tagger.settings import TaggerSettings
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.tagger.head import TaggerHead

NUMBERS_PER_CELL = 128  # `HeadKind.cells` counts hundreds of numbers; the tagger keeps single scores
_LIMITS = {
    "BIO": "All of them are continuous, and no two share words.",
    "BIOHD": "Of each label and sentence, either one is discontinuous, or some share one run of words.",
    "BIOHD1234": "They have at most two fragments.",
}


class TaggerKind(HeadKind[TaggerSettings]):
    """See `HeadKind`."""

    name = "tagger"
    about = "each word gets one tag, by a linear-chain CRF, and entities are decoded from the tags"
    settings = TaggerSettings
    variants = tuple(f"scheme={name}" for name in SCHEMES)

    def build(self, settings: TaggerSettings, labels: Sequence[str], *, word_size: int) -> TaggerHead:
        from disconer.nn.heads.tagger.head import build_tagger

        return build_tagger(
            labels=labels,
            scheme=SCHEMES[settings.scheme],
            word_size=word_size,
            hidden=settings.hidden,
            dropout=settings.dropout,
        )

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: TaggerSettings) -> Reach:
        return tag_reach(entities, n_words, SCHEMES[settings.scheme])

    def cells(self, n_words: int, settings: TaggerSettings, labels: Sequence[str]) -> int:
        n_tags = _n_tags(settings.scheme, len(labels))
        return (n_words + n_tags) * n_tags // NUMBERS_PER_CELL + 1  # emissions, and a step from tags to tags

    def propose(self, survey: Survey, settings: TaggerSettings) -> Proposal[TaggerSettings]:
        return propose_scheme(survey, settings)

    def limits(self, settings: TaggerSettings, labels: Sequence[str]) -> Iterator[str]:
        yield _LIMITS[settings.scheme]
        yield "None has all its words in another of its label, and none shares a word with one of another label."

    def graphs(self, head: TaggerHead) -> HeadGraphs:
        from disconer.nn.heads.tagger.head import tagger_graphs

        return tagger_graphs(head)

    def reader(self, settings: TaggerSettings, labels: Sequence[str], *, graphs: Mapping[str, RunGraph]) -> TagReader:
        scheme = SCHEMES[settings.scheme]
        return TagReader(scheme, scheme.tags(labels))


@lru_cache
def _n_tags(scheme: str, n_labels: int) -> int:
    return len(SCHEMES[scheme].tags([str(number) for number in range(n_labels)]))


TAGGER = TaggerKind()
