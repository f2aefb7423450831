"""What a faultless tagger finds, why it misses the rest, and which scheme loses least."""

from __future__ import annotations

from collections.abc import Sequence

from disconer.evaluate.ceiling import Reach, WordEntity
from disconer.evaluate.survey import Survey
from disconer.nn.heads.kind import Proposal
from disconer.nn.heads.tagger.parts import words_of
from disconer.nn.heads.tagger.schemes import SCHEMES, Scheme
from disconer.nn.heads.tagger.settings import TaggerSettings
from disconer.text.alignment import TokenEntity

OTHER_LABEL = "shares words with an entity of another label, and a word has one tag"


def tag_reach(entities: Sequence[TokenEntity], n_words: int, scheme: Scheme) -> Reach:
    """What comes back of the entities of a sentence."""
    keys = list(dict.fromkeys(entity.key for entity in entities))
    encoded = scheme.encode(keys, n_words)
    found = frozenset(scheme.decode(encoded.tags))
    return Reach(found, {key: _why_lost(key, keys, scheme.name) for key in encoded.lost})


def _why_lost(key: WordEntity, keys: Sequence[WordEntity], scheme: str) -> str:
    words = set(words_of(key[1]))
    sharing = {label for label, ranges in keys if (label, ranges) != key and words & set(words_of(ranges))}
    if sharing - {key[0]}:
        return OTHER_LABEL
    if not sharing:
        return f"is discontinuous in a way that {scheme} cannot express (head.scheme)"
    return f"shares words with another entity in a way that {scheme} cannot express (head.scheme)"


def propose_scheme(survey: Survey, settings: TaggerSettings) -> Proposal[TaggerSettings]:
    """The scheme that loses least; of those that lose the same, the one with the fewest tags."""
    total = sum(len(_keys(sentence.entities)) for sentence in survey.sentences)
    lost = {
        name: sum(len(scheme.encode(_keys(own), n_words).lost) for n_words, own in survey.sentences)
        for name, scheme in SCHEMES.items()
    }
    best = min(lost, key=lost.__getitem__)
    shares = ", ".join(f"{name} {1 - count / max(1, total):.1%}" for name, count in lost.items())
    return Proposal(
        settings.model_copy(update={"scheme": best}), [f"Tags: {best}. Entities that each scheme expresses: {shares}."]
    )


def _keys(entities: Sequence[TokenEntity]) -> list[WordEntity]:
    return list(dict.fromkeys(entity.key for entity in entities))
