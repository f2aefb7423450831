"""The settings of the combined head, and what the rest of disconer needs to know about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from disconer.config.section import HeadSettings
from disconer.evaluate.check import Reach
from disconer.evaluate.stats import Survey
from disconer.nn.heads.kind import HeadKind, Proposal, share_expressed
from disconer.nn.heads.span.kind import SpanSection, build_span, fitted_spans, span_cells
from disconer.nn.heads.transition.kind import LIMITS, TransitionSection, build_transition, transition_cells
from disconer.nn.heads.transition.oracle import transition_reach
from disconer.text.alignment import TokenEntity

if TYPE_CHECKING:
    from disconer.nn.heads.combined.head import CombinedHead


class CombinedSettings(HeadSettings):
    """The combined head: actions on a stack of spans, chosen with evidence from a jointly trained span head."""

    kind: Literal["combined"] = "combined"
    spans: SpanSection = Field(
        default=SpanSection(), description="The span head, whose scores are evidence: actions may find what it misses."
    )
    transitions: TransitionSection = Field(
        default=TransitionSection(), description="The transition head, whose actions make the entities."
    )


class CombinedKind(HeadKind[CombinedSettings]):
    """See `HeadKind`."""

    name = "combined"
    about = "actions on a stack of spans build the entities, chosen with evidence from a jointly trained span head"
    settings = CombinedSettings

    def build(self, settings: CombinedSettings, labels: Sequence[str], *, word_size: int) -> CombinedHead:
        from disconer.nn.heads.combined.evidence import EvidenceLayer
        from disconer.nn.heads.combined.head import CombinedHead

        actions = settings.transitions
        return CombinedHead(
            spans=build_span(settings.spans, labels, word_size=word_size),
            transitions=build_transition(actions, labels, word_size=word_size),
            evidence=EvidenceLayer(n_labels=len(labels), hidden=actions.hidden, dropout=actions.dropout),
        )

    def reach(self, entities: Sequence[TokenEntity], n_words: int, settings: CombinedSettings) -> Reach:
        return transition_reach((entity.key for entity in entities), n_words)

    def cells(self, n_words: int, settings: CombinedSettings, labels: Sequence[str]) -> int:
        return span_cells(n_words, settings.spans) + transition_cells(n_words, settings.transitions)

    def propose(self, survey: Survey, settings: CombinedSettings) -> Proposal[CombinedSettings]:
        spans, findings = fitted_spans(survey, settings.spans)
        share = share_expressed(self, survey, settings)
        findings.append(f"Entities that actions on a stack can make: {share:.1%}.")
        return Proposal(settings.model_copy(update={"spans": spans}), findings)

    def limits(self, settings: CombinedSettings, labels: Sequence[str]) -> Iterator[str]:
        yield from LIMITS


COMBINED = CombinedKind()
