"""What the span model can express at best: gold entities → targets → decoder → entities."""

from __future__ import annotations

from collections.abc import Iterable

from disconer.core.types import Fragment, Sentence
from disconer.nn.heads.span.targets import span_targets
from disconer.text.alignment import TokenEntity, to_fragments
from disconer.text.fragment_graph import assemble

Key = tuple[str, tuple[Fragment, ...]]


def sentence_oracle(sentence: Sentence, entities: Iterable[TokenEntity], max_width: int | None = None) -> set[Key]:
    """What a faultless model would find in one sentence."""
    targets = span_targets(entities, max_width)
    return {
        (entity.label, to_fragments(entity.ranges, sentence))
        for entity in assemble(targets.spans, targets.labels, targets.succession)
    }
